const SLOWEST = 10;

/** Returns the last lines of `npm test`: times and budgets, slowest tests, failures with their commands, and totals. */
export function summarize(results, totalSeconds, budgetSeconds) {
  const tests = results.flatMap((result) => result.tests);
  const failed = tests.filter(({ status }) => status === 'failed');
  const passed = tests.filter(({ status }) => status === 'passed');
  return [
    '',
    ...timeTable(results, totalSeconds, budgetSeconds),
    '',
    `The ${SLOWEST} slowest tests`,
    ...slowest(tests),
    ...failed.flatMap(describeFailure),
    '',
    `${passed.length} passed, ${failed.length} failed`,
  ];
}

function timeTable(results, totalSeconds, budgetSeconds) {
  const rows = results.map(({ step, seconds, tests }) => row(step.name, seconds, step.budgetSeconds, outcome(tests)));
  const head = `${'Step'.padEnd(30)}${'Time'.padStart(8)}${'Budget'.padStart(9)}`;
  return [head, ...rows, row('Total', totalSeconds, budgetSeconds, '')];
}

function row(name, seconds, budgetSeconds, what) {
  const late = seconds > budgetSeconds ? 'over budget' : '';
  const notes = [what, late].filter((note) => note !== '').join(', ');
  const times = `${`${Math.round(seconds)} s`.padStart(8)}${`${budgetSeconds} s`.padStart(9)}`;
  return `${name.padEnd(30)}${times}  ${notes}`.trimEnd();
}

function outcome(tests) {
  const count = (status) => tests.filter((test) => test.status === status).length;
  const notes = [`${count('passed')} passed`];
  if (count('failed') > 0) notes.push(`${count('failed')} failed`);
  if (count('skipped') > 0) notes.push(`${count('skipped')} skipped`);
  return notes.join(', ');
}

function slowest(tests) {
  return tests
    .filter(({ milliseconds }) => milliseconds > 0)
    .toSorted((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, SLOWEST)
    .map(({ milliseconds, file, name }) => `${`${(milliseconds / 1000).toFixed(1)} s`.padStart(8)}  ${file}: ${name}`);
}

function describeFailure({ name, file, message, repeat }) {
  const reason = message.split('\n').filter((line) => line.trim() !== '');
  return [
    '',
    `Failed: ${file === '' ? name : `${file}: ${name}`}`,
    ...reason.slice(0, 12).map((line) => `    ${line}`),
    `    Repeat: ${repeat}`,
  ];
}
