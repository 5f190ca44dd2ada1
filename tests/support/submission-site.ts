import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import type { CreatedSubmission, NewSubmission, Submission } from '../../src/contract/submissions/schema.ts';
import { type E2eSite, startE2eSite } from './e2e-site.ts';
import { expect, testWith } from './e2e-test.ts';
import { environmentWithoutSettings } from './environment.ts';
import { COMMAND } from './running-site.ts';

/** A submission, with the key and the link that its maker gets. */
export interface Submitted {
  id: string;
  key: string;
  submission: Submission;
  /** The path of the maker's page, with the key in its fragment. */
  link: string;
}

/** The test function for a site that accepts submissions, in another time zone than the browsers under test. */
export const submissionTest = testWith(() => startE2eSite({ SUBMISSIONS: 'moderated', SITE_TIME_ZONE: 'Asia/Tokyo' }));

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

/** Opens the maker's page of a product that has not launched. */
export async function openLink(page: Page, { link, submission }: Submitted): Promise<void> {
  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1, name: submission.product.name })).toBeVisible();
}

const run = promisify(execFile);

/** Runs `groundswell submissions` as the operator of a running site. */
export async function decide(site: E2eSite, ...parameters: string[]): Promise<void> {
  const env = { ...environmentWithoutSettings(), DATA_DIR: site.dataDir, SUBMISSIONS: 'moderated' };
  await run(process.execPath, [COMMAND, 'submissions', ...parameters], { env });
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
