import { setTimeout as sleep } from 'node:timers/promises';
import { FlowRecorder, sendWhenDue } from '../harness/open-flow.ts';
import type { FlowResult } from '../harness/run-load.ts';
import type { CommandRun } from '../harness/server-process.ts';
import type { LaunchSite } from './launch-site.ts';

/** Rows per file, of which 50% have changed and 10% are new. */
const IMPORT_ROWS = 1_000;
/** Start times of the imports, as fractions of the run: before, during and after the burst. */
const IMPORTS_AT = [0.15, 0.42, 0.75];
const MODERATION_EVERY_MS = 2_000;
/** One in three actions restores a hidden comment. The others hide a public one. */
const RESTORE_EVERY = 3;

export interface OperatorReport {
  /** Latencies of moderation in the console. Each action reads the newest comments, and hides or restores one. */
  moderation: FlowResult;
  imports: { rows: number; seconds: number[]; peakMb: number };
}

/** Acts as the operator for `seconds`: runs imports with the command and moderates comments in the console. */
export async function operate(site: LaunchSite, seconds: number): Promise<OperatorReport> {
  const [moderation, imports] = await Promise.all([moderate(site, seconds), runImports(site, seconds)]);
  return {
    moderation,
    imports: {
      rows: IMPORT_ROWS,
      seconds: imports.map((run) => Math.round(run.seconds * 10) / 10),
      peakMb: Math.max(...imports.map(({ peakMb }) => peakMb)),
    },
  };
}

async function runImports(site: LaunchSite, seconds: number): Promise<CommandRun[]> {
  const begin = performance.now();
  const runs: CommandRun[] = [];
  for (const [round, part] of IMPORTS_AT.entries()) {
    await sleep(Math.max(0, begin + part * seconds * 1_000 - performance.now()));
    runs.push(await site.importAgain(round + 1, IMPORT_ROWS));
  }
  return runs;
}

async function moderate(site: LaunchSite, seconds: number): Promise<FlowResult> {
  const recorder = new FlowRecorder();
  const begin = performance.now();
  const total = Math.floor((seconds * 1_000) / MODERATION_EVERY_MS);
  const actions = Array.from({ length: total }, (_, number) => ({
    number,
    dueAt: begin + (number + 1) * MODERATION_EVERY_MS,
  }));
  await sendWhenDue(actions, async ({ number, dueAt }) => {
    const status = await moderateOne(site, number).catch((error: Error) => error.message);
    recorder.record(dueAt, status);
  });
  return recorder.result();
}

/** Hides the newest public comment, or restores the newest hidden one. @returns the status of the last request. */
async function moderateOne(site: LaunchSite, number: number): Promise<number> {
  const action = number % RESTORE_EVERY === RESTORE_EVERY - 1 ? 'restore' : 'hide';
  const state = action === 'hide' ? 'public' : 'hidden';
  const list = await callConsole(site, `/comments?limit=50&state=${state}`);
  const { items } = (await list.json()) as { items: { id: string }[] };
  const [comment] = items;
  if (comment === undefined) return list.status;
  const body = JSON.stringify({ action, ids: [comment.id] });
  const moderated = await callConsole(site, '/comments/moderate', body);
  await moderated.arrayBuffer();
  return moderated.status;
}

function callConsole({ server, consoleCookie }: LaunchSite, path: string, body?: string): Promise<Response> {
  return fetch(`${server.address}/api/console${path}`, {
    headers: { cookie: consoleCookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body }),
  });
}
