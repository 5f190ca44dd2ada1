/** Converts the JSON reports of Vitest and Playwright to a common format. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * @typedef {object} TestResult
 * @property {string} name
 * @property {string} file The path, relative to the project.
 * @property {number} milliseconds
 * @property {'passed' | 'failed' | 'skipped'} status
 * @property {string} message The error messages, or an empty string.
 * @property {string} repeat The command that repeats this test alone.
 */

/** @returns {TestResult[]} */
export function readReport(kind, path, root) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  return kind === 'vitest' ? testsOfVitest(report, root) : testsOfPlaywright(report, root);
}

/** @returns {TestResult[]} */
export function testsOfVitest({ testResults }, root) {
  return testResults.flatMap(({ name: path, status, message, assertionResults }) => {
    const file = relative(root, path);
    const tests = assertionResults.map((test) => ({
      name: [...test.ancestorTitles, test.title].join(' › '),
      file,
      milliseconds: test.duration ?? 0,
      status: test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped',
      message: (test.failureMessages ?? []).join('\n'),
      repeat: `npx vitest run ${file} -t ${quote(`^${escapePattern([...test.ancestorTitles, test.title].join(' '))}$`)}`,
    }));
    // If a file cannot be loaded, or a hook fails, Vitest reports the file as failed without a failed test.
    if (status === 'failed' && !tests.some((test) => test.status === 'failed')) {
      const repeat = `npx vitest run ${file}`;
      tests.push({
        name: '(the file itself)',
        file,
        milliseconds: 0,
        status: 'failed',
        message: message ?? '',
        repeat,
      });
    }
    return tests;
  });
}

/** @returns {TestResult[]} */
export function testsOfPlaywright({ config, suites, errors = [] }, root) {
  const tests = [];
  const uses = [];
  const visit = (suite, titles) => {
    for (const spec of suite.specs ?? []) {
      const file = relative(root, `${config.rootDir}/${spec.file}`);
      const title = [...titles, spec.title];
      const results = spec.tests.flatMap((test) => test.results);
      for (const { type, description } of spec.tests.flatMap((test) => test.annotations ?? []))
        if (type === SHARED_SITE) uses.push({ test: `${file}:${spec.line}`, ...JSON.parse(description) });
      const isSkipped = spec.tests.every((test) => test.status === 'skipped');
      tests.push({
        name: title.join(' › '),
        file,
        milliseconds: results.reduce((sum, result) => sum + result.duration, 0),
        status: isSkipped ? 'skipped' : spec.ok ? 'passed' : 'failed',
        message: results.flatMap((result) => (result.errors ?? []).map((error) => plain(error.message))).join('\n'),
        repeat: `npx playwright test ${file}:${spec.line} -g ${quote(`${escapePattern(title.join(' '))}$`)}`,
      });
    }
    for (const inner of suite.suites ?? []) visit(inner, [...titles, inner.title]);
  };
  for (const suite of suites) visit(suite, []);
  for (const { message = '', location } of errors) {
    const file = location ? relative(root, location.file) : 'tests/e2e';
    const repeat = `npx playwright test ${location ? file : ''}`.trim();
    tests.push({ name: '(the file itself)', file, milliseconds: 0, status: 'failed', message: plain(message), repeat });
  }
  const conflicts = conflictsBetween(uses);
  if (conflicts.length > 0) tests.push({ ...NAMES_DIFFER, message: conflicts.join('\n') });
  return tests;
}

/** The type of the annotation in which a test reports the names of its products and its searches. */
const SHARED_SITE = 'shared site';

const NAMES_DIFFER = {
  name: 'tests that share a site give their products different names, which no search of another test finds',
  file: 'tests/e2e',
  milliseconds: 0,
  status: 'failed',
  repeat: 'npm test',
};

/** Tests of the console select their products by tags, and empty its queue. */
const isOfConsole = ({ test }) => test.startsWith('tests/e2e/console');

/**
 * Finds conflicts that would rarely fail a test, because which tests run on the same site depends on the durations of
 * all tests. Ignores the search "zz", which finds the products that many tests share, and the start of a longer search,
 * which is sent only if the visitor types slowly.
 * @param {{ test: string, site: string, names: string[], searches: string[] }[]} uses
 * @returns {string[]} a sentence for each conflict
 */
function conflictsBetween(uses) {
  const conflicts = [];
  for (const user of uses)
    for (const name of user.names)
      for (const other of uses) {
        if (other.test === user.test || other.site !== user.site || (isOfConsole(user) && isOfConsole(other))) continue;
        const isSame = other.names.includes(name) && user.test < other.test;
        const search = other.searches.find(
          (text) =>
            text.length > 2 &&
            name.toLowerCase().includes(text.toLowerCase()) &&
            !other.searches.some((longer) => longer.length > text.length && longer.startsWith(text)),
        );
        if (isSame) conflicts.push(`"${name}" is used by ${user.test} and ${other.test}.`);
        if (search !== undefined) conflicts.push(`"${name}" of ${user.test} is found by "${search}" of ${other.test}.`);
      }
  return [...new Set(conflicts)];
}

function escapePattern(text) {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Quotes a string for a POSIX shell. */
function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function plain(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes the colour codes of a terminal
  return String(text).replaceAll(/\u001b\[[0-9;]*m/g, '');
}
