import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { testsOfPlaywright, testsOfVitest } from '../../scripts/test/reports.js';
import { ROOT, runSuite } from '../../scripts/test/run-suite.js';
import { summarize } from '../../scripts/test/summary.js';

const step = (name: string, script: string) => ({
  name,
  program: 'node',
  parameters: ['-e', script],
  repeat: `npm run ${name}`,
  budgetSeconds: 60,
});
const run = (...scripts: [string, string][]) =>
  runSuite(
    scripts.map(([name, script]) => [step(name, script)]),
    { chromium: undefined, show: false },
  );

test('the runner continues after a failed step, and its last line counts passed and failed tests', async () => {
  const { results, seconds } = await run(['first', 'console.log("the reason"); process.exit(3)'], ['second', '']);
  const lines = summarize(results, seconds, 300);
  expect(lines.at(-1)).toBe('2 passed, 1 failed');
  expect(lines).toContain('Failed: first');
  expect(lines).toContain('    the reason');
  expect(lines).toContain('    Repeat: npm run first');
  expect(lines.find((line: string) => line.startsWith('second'))).toMatch(/\d+ s +60 s {2}1 passed$/);
});

test('a step that exits successfully without the report that it should write counts as failed', async () => {
  const silent = { ...step('silent', ''), parameters: ['-e', '', '--'], reports: 'vitest' as const };
  const { results } = await runSuite([[silent]], { chromium: undefined, show: false });
  expect(results[0]?.tests).toMatchObject([{ name: 'silent', status: 'failed', repeat: 'npm run silent' }]);
});

test('a process or a folder that a step leaves behind fails the run and is removed', async () => {
  const said = join(await mkdtemp(join(tmpdir(), 'groundswell-runner-')), 'said');
  const leave = `const { spawn } = require('node:child_process'); const { mkdtempSync, writeFileSync } = require('node:fs');
    const folder = mkdtempSync(require('node:os').tmpdir() + '/left-');
    const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    writeFileSync(${JSON.stringify(said)}, JSON.stringify({ folder, pid })); process.exit();`;
  const { results } = await run(['untidy', leave]);
  const { folder, pid } = JSON.parse(await readFile(said, 'utf8'));
  await rm(join(said, '..'), { recursive: true });
  const last = results.at(-1);
  expect(last?.tests[0]).toMatchObject({ status: 'failed' });
  expect(last?.tests[0]?.message).toMatch(/folder or file left-[\s\S]*process \d+ .*setInterval/);
  expect(existsSync(folder)).toBe(false);
  expect(await isRunning(pid)).toBe(false);
});

test('after two signals at once, which Ctrl-C causes under npm, the runner still lets a step clean up', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-runner-'));
  const started = join(folder, 'started');
  const script = `process.once('SIGINT', () => process.exit(0)); setInterval(() => {}, 1000);
    require('node:fs').writeFileSync(${JSON.stringify(started)}, '');`;
  const runner = `import { ROOT, runSuite } from ${JSON.stringify(join(ROOT, 'scripts/test/run-suite.js'))};
    const groups = [[${JSON.stringify(step('interrupted', script))}]];
    const { results, isInterrupted } = await runSuite(groups, { chromium: undefined, show: false });
    console.log(JSON.stringify({ isInterrupted, status: results[0].tests[0].status }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', runner], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = text(child.stdout);
  await expect.poll(() => existsSync(started)).toBe(true);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
  expect(JSON.parse(await output)).toEqual({ isInterrupted: true, status: 'passed' });
  await rm(folder, { recursive: true });
});

/** Returns whether a process runs. A zombie, which remains if process 1 does not reap orphans, does not count. */
async function isRunning(pid: number): Promise<boolean> {
  if (process.platform === 'linux') return (await readFile(`/proc/${pid}/cmdline`).catch(() => '')).length > 0;
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(stdout.trim());
}

test('each failed Vitest test, and each file that cannot be loaded, is listed with the command that repeats it', () => {
  const passed = { ancestorTitles: ['a'], title: 'works', status: 'passed', duration: 5, failureMessages: [] };
  const failed = {
    ...passed,
    ancestorTitles: ['a (list)'],
    title: "isn't $1",
    status: 'failed',
    failureMessages: ['Error: no'],
  };
  const report = {
    testResults: [
      { name: '/p/src/one.test.ts', status: 'failed', message: '', assertionResults: [passed, failed] },
      { name: '/p/src/two.test.ts', status: 'failed', message: 'Cannot find module', assertionResults: [] },
    ],
  };
  expect(testsOfVitest(report, '/p')).toMatchObject([
    { status: 'passed', name: 'a › works', file: 'src/one.test.ts', milliseconds: 5 },
    { status: 'failed', repeat: "npx vitest run src/one.test.ts -t '^a \\(list\\) isn'\\''t \\$1$'" },
    { status: 'failed', repeat: 'npx vitest run src/two.test.ts', message: 'Cannot find module' },
  ]);
});

test('each failed Playwright test is listed with the command that repeats it', () => {
  const result = { status: 'failed', duration: 7, errors: [{ message: '\u001b[31mno\u001b[39m' }] };
  const spec = {
    title: 'shows 2+2',
    ok: false,
    file: 'home.spec.ts',
    line: 12,
    tests: [{ status: 'unexpected', results: [result] }],
  };
  const report = {
    config: { rootDir: '/p/tests/e2e' },
    suites: [{ title: 'home.spec.ts', specs: [], suites: [{ title: 'the list', specs: [spec] }] }],
  };
  expect(testsOfPlaywright(report, '/p')).toMatchObject([
    {
      name: 'the list › shows 2+2',
      status: 'failed',
      message: 'no',
      repeat: "npx playwright test tests/e2e/home.spec.ts:12 -g 'the list shows 2\\+2$'",
    },
  ]);
});

test('browser tests that share a site must give their products different names, which no search of another test finds', () => {
  const spec = (line: number, used: object) => {
    const annotations = [{ type: 'shared site', description: JSON.stringify({ site: 'one', searches: [], ...used }) }];
    return { title: `test ${line}`, ok: true, file: 'a.spec.ts', line, tests: [{ results: [], annotations }] };
  };
  const reported = (...specs: object[]) => {
    const report = { config: { rootDir: '/p/tests/e2e' }, suites: [{ title: 'a.spec.ts', specs, suites: [] }] };
    return testsOfPlaywright(report, '/p').filter(({ status }) => status === 'failed');
  };
  const first = spec(1, { names: ['Grebe', 'Heron'], searches: ['grebe'] });
  expect(reported(first, spec(2, { names: ['Bittern'] }))).toEqual([]);
  expect(reported(first, spec(2, { site: 'two', names: ['Heron', 'Grebe 2'] }))).toEqual([]);
  expect(reported(first, spec(2, { names: ['Heron'] }), spec(3, { names: ['Grebe 2'] }))).toMatchObject([
    {
      message:
        '"Heron" is used by tests/e2e/a.spec.ts:1 and tests/e2e/a.spec.ts:2.\n' +
        '"Grebe 2" of tests/e2e/a.spec.ts:3 is found by "grebe" of tests/e2e/a.spec.ts:1.',
    },
  ]);
});
