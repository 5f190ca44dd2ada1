import { expect, test } from 'vitest';
import { AUDIT_ACTIONS } from '../../src/core/audit/audit-log.ts';
import { filesBelow, readText } from './source-files.ts';

/** The function that performs each operation in the audit log, as a regular expression. */
const OPERATIONS: Record<(typeof AUDIT_ACTIONS)[number], string> = {
  'products edit': 'editProduct',
  'products postpone': 'editProduct',
  'products remove': 'removeProducts',
  'products restore': 'restoreProducts',
  'comments hide': 'hideComments',
  'comments restore': 'restoreComments',
  'comments hold': 'holdComments',
  'comments release': 'releaseComments',
  'votes exclude': 'changeVerdicts',
  'votes include': 'changeVerdicts',
  'votes undo': 'undoVerdicts',
  'submissions approve': 'approveSubmission',
  'submissions schedule': 'scheduleSubmission',
  'submissions decline': 'declineSubmission',
  'submissions undo': 'undoDecision',
  'submissions key': 'renewMakerKey',
  'counts repair': 'repairCounts',
  'leaderboards repair': 'repairBoard',
  'sample load': 'loadSample',
  'sample remove': 'removeSample',
  import: 'importProducts',
  'import undo': 'undoEntry',
  // The command calls `writeBackup`, and the console calls `sendBackup`.
  backup: '(?:write|send)Backup',
  restore: 'restoreBackup',
  'console invite': 'inviteOperator',
  'console accept': 'acceptInvitation',
  'console revoke': 'revokeOperator',
};

/** Operations that are missing from the command or the console, and the reasons. */
const EXCEPTIONS: Record<string, { notIn: 'cli' | 'console'; why: string }> = {
  'console accept': { notIn: 'cli', why: 'a passphrase is entered only in the browser of its operator' },
  'console invite': { notIn: 'console', why: 'a stolen session must not be able to add an operator' },
  'console revoke': { notIn: 'console', why: 'a stolen session must not be able to remove the other operators' },
  'submissions key': { notIn: 'console', why: 'the operator sends the link to the maker outside of the console' },
  'counts repair': { notIn: 'console', why: 'maintenance on the host, after an investigation' },
  'leaderboards repair': { notIn: 'console', why: 'maintenance on the host, after an investigation' },
  'sample load': { notIn: 'console', why: 'part of setting a site up' },
  'sample remove': { notIn: 'console', why: 'part of setting a site up' },
  restore: { notIn: 'console', why: 'it replaces the whole site, sessions included' },
};

const COMMENT_OR_IMPORT = /\/\*.*?\*\/|^ *\/\/.*?$|^import .*?;$/gms;

/** Returns the code of files, except tests. Leaves out comments and imports, because a name in them is not a use. */
async function codeOf(paths: readonly string[]): Promise<string> {
  const files = paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  const texts = await Promise.all(files.map(readText));
  return texts.map((text) => text.replaceAll(COMMENT_OR_IMPORT, '')).join('\n');
}

test('the command and the console use the same function for every operation in the audit log, with listed exceptions', async () => {
  const texts = {
    cli: await codeOf(await filesBelow('src/cli')),
    console: await codeOf([...(await filesBelow('src/server/console')), 'src/core/console/undo-entry.ts']),
  };
  for (const action of AUDIT_ACTIONS) {
    const called = new RegExp(`\\b${OPERATIONS[action]}\\b`);
    for (const side of ['cli', 'console'] as const) {
      const isException = EXCEPTIONS[action]?.notIn === side;
      expect(called.test(texts[side]), `${action} in ${side}`).toBe(!isException);
    }
  }
});
