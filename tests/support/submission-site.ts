import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import * as paths from '../../src/contract/paths.ts';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import type { CreatedSubmission, NewSubmission, Submission } from '../../src/contract/submissions/schema.ts';
import { readDatabaseClock } from '../../src/core/database/clock.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import {
  approveSubmission,
  declineSubmission,
  scheduleSubmission,
  undoDecision,
} from '../../src/core/submissions/decide-submission.ts';
import { launchRules } from '../../src/core/submissions/launch-product.ts';
import { type E2eSite, startE2eSite } from './e2e-site.ts';
import { expect, testWith } from './e2e-test.ts';
import { environmentWithoutSettings } from './environment.ts';
import { holdResponses } from './network.ts';
import { COMMAND } from './running-site.ts';

/** A submission, with the key and the link that its maker gets. */
export interface Submitted {
  id: string;
  key: string;
  submission: Submission;
  /** The path of the maker's page, with the key in its fragment. */
  link: string;
}

/** The time zone of the site, which differs from that of the browsers under test. */
const TIME_ZONE = 'Asia/Tokyo';

/** The test function for a site that accepts submissions. */
export const submissionTest = testWith(() => startE2eSite({ SUBMISSIONS: 'moderated', SITE_TIME_ZONE: TIME_ZONE }));

/** Submits a product through the API. */
export async function submit(site: E2eSite, fields: NewSubmission): Promise<Submitted> {
  const response = await fetch(site.address + submissionPaths.submissions, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', [SESSION_HEADER]: `session-${randomUUID()}` },
    body: JSON.stringify(fields),
  });
  if (response.status !== 201)
    throw new Error(`The submission got the response ${response.status}: ${await response.text()}`);
  const { submission, makerKey } = (await response.json()) as CreatedSubmission;
  return { id: submission.id, key: makerKey, submission, link: submissionPaths.makerLink(submission.id, makerKey) };
}

export const dialog = (page: Page) => page.getByRole('dialog');

/** Locates the button that sends the form for a new product. */
export const sendButton = (page: Page) => dialog(page).getByRole('button', { name: 'Submit for review' });

/** Opens the form for a new product. */
export async function openDialog(page: Page): Promise<void> {
  await page.goto(paths.submit);
  await expect(dialog(page)).toBeVisible();
}

/** Opens the maker's page of a product that has not launched. */
export async function openLink(page: Page, { link, submission }: Submitted): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1, name: submission.product.name })).toBeVisible();
}

/**
 * Does the work of `groundswell submissions` with these parameters, without starting the command: `approve ID`,
 * `undo ID`, `schedule ID TIME`, or `decline ID --reason REASON`.
 */
export async function decide({ database }: E2eSite, action: string, id: string, ...rest: string[]): Promise<void> {
  const rules = launchRules({ now: await readDatabaseClock(database) }, TIME_ZONE);
  const last = rest.at(-1) ?? '';
  if (action === 'approve') await approveSubmission(database, { id }, rules);
  else if (action === 'undo') await undoDecision(database, { id }, rules);
  else if (action === 'schedule') await scheduleSubmission(database, { id }, new Date(last), rules);
  else if (action === 'decline') await declineSubmission(database, { id }, last, rules);
  else throw new Error(`Unknown action: ${action}`);
  // Until the launch is on its leaderboards, requests for its standing may get 404, which browsers log as an error.
  await placeLaunches(database, { now: new Date(), timeZone: TIME_ZONE, reviewHours: 24 });
}

/** Approves a submission with the command, as the operator of a running site. */
export async function approveWithCommand({ dataDir }: E2eSite, id: string): Promise<void> {
  const env = { ...environmentWithoutSettings(), DATA_DIR: dataDir };
  await promisify(execFile)(process.execPath, [COMMAND, 'submissions', 'approve', id], { env });
}

/** Returns the date some days ahead, as `YYYY-MM-DD` in UTC. Launch times must be at most 366 days ahead. */
export function dayAhead(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** Returns a date as the browsers under test show it, for example `1 May 2027`. */
export function longDate(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));
}

/** Creates a picture in the format of Playwright's file inputs. */
export async function pictureFile(name: string, background: string, [width, height] = [800, 500] as [number, number]) {
  const buffer = await sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();
  return { name, mimeType: 'image/png', buffer };
}

/** Creates a picture of noise, which remains about 1 MB when compressed. */
export async function noiseFile(name: string) {
  const raw = { width: 600, height: 600, channels: 3 } as const;
  const buffer = await sharp(randomBytes(raw.width * raw.height * raw.channels), { raw })
    .png()
    .toBuffer();
  return { name, mimeType: 'image/png', buffer };
}

/** Sends the form for a new product, and closes its dialog before the response arrives. */
export async function closeWhileSending(page: Page) {
  const held = await holdResponses(page, /\/api\/submissions$/, { method: 'POST' });
  await sendButton(page).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  return held;
}
