import { formatCount, formatQuantity, utcMinute } from '../../contract/text.ts';
import type { AuditEntry } from './audit-log.ts';

/** The number of hexadecimal digits at the start of a shortened id. */
export const SHORT_ID_DIGITS = 8;

/** Describes an entry in words that follow the operator's name in a sentence: `hid comment 5a3b1e00 on git (spam)`. */
export function sentenceOf({ action, target, details }: Pick<AuditEntry, 'action' | 'target' | 'details'>): string {
  const known: Readonly<Record<string, unknown>> = { ...details };
  const amount = (name: string, noun: string) => formatQuantity(Number(known[name] ?? 0), noun);
  const count = (name: string) => formatCount(Number(known[name] ?? 0));
  const reason = () => (known.reason === undefined ? '' : ` (${known.reason})`);
  const time = () => `${utcMinute(String(known.launchAt))} UTC`;
  const product = () => `'${known.name ?? target}' (${target}) with ${amount('upvotes', 'upvote')}`;
  const comment = () => {
    const place = known.productId === undefined ? '' : ` on ${known.productId}`;
    return `comment ${target.slice(0, SHORT_ID_DIGITS)}${place}${reason()}`;
  };
  const changed = () => Object.keys(known.after ?? {}).join(', ');
  const votes = () => {
    const revised = Array.isArray(known.revised) && known.revised.length > 0 ? ', revising the final result' : '';
    return `for ${target} on ${known.day}${revised}`;
  };
  switch (action) {
    case 'products remove':
    case 'sample remove':
      if (known.products !== undefined)
        return `removed ${amount('products', 'sample product')}, ${amount('upvotes', 'sample upvote')} and ${amount('comments', 'sample comment')}`;
      return `removed ${product()} and ${amount('comments', 'comment')}${reason()}`;
    case 'products restore':
      return `restored ${product()} and ${amount('comments', 'comment')}`;
    case 'comments hide':
      return `hid ${comment()}`;
    case 'comments restore':
      return `restored ${comment()}`;
    case 'comments hold':
      return `held ${comment()}`;
    case 'products postpone':
      return `postponed '${known.name ?? target}' (${target}): ${changed()}`;
    case 'products edit':
      return `edited '${known.name ?? target}' (${target}): ${changed()}`;
    case 'comments release':
      return `released ${comment()}`;
    case 'votes exclude':
      return `excluded ${amount('votes', 'vote')} ${votes()} (${known.reason})`;
    case 'votes include':
      return `included ${amount('votes', 'vote')} ${votes()} (${known.reason})`;
    case 'votes undo':
      return `undid the ${nounOf(known.of)} of ${amount('votes', 'vote')} ${votes()}`;
    case 'submissions approve':
      return `approved submission ${target} to launch at ${time()}`;
    case 'submissions schedule':
      return `scheduled submission ${target} for ${time()}`;
    case 'submissions decline':
      return `declined submission ${target} (${known.reason})`;
    case 'submissions undo':
      return `undid the ${nounOf(known.of)} of submission ${target}`;
    case 'submissions key':
      return `gave submission ${target} a new maker key`;
    case 'counts repair':
      return `repaired the counts of ${target}`;
    case 'leaderboards repair':
      return `repaired the leaderboard of ${target}: ${amount('differences', 'difference')}`;
    case 'sample load':
      return `loaded ${amount('created', 'sample product')}`;
    case 'import':
      return `imported ${target}${known.created === undefined ? '' : `: ${count('created')} created, ${count('updated')} updated`}`;
    case 'import undo':
      return `undid the import of ${target}: ${amount('removed', 'product')} removed, ${count('reverted')} reverted, ${count('skipped')} skipped (changed or final since the import)`;
    case 'backup':
      return `backed up ${amount('rows', 'row')} to ${target}`;
    case 'console invite':
      return `invited ${target} to the console`;
    case 'console accept':
      return `accepted the invitation to the console`;
    case 'console revoke':
      return `revoked ${target}'s access to the console`;
    case 'restore':
      return `restored ${formatQuantity(sumOf(known.rows), 'row')} from ${target}`;
  }
}

/** Adds up the values of an object, such as the numbers of rows by table. */
function sumOf(counts: unknown): number {
  return Object.values(counts ?? {}).reduce<number>((sum, count) => sum + Number(count), 0);
}

const NOUNS: Readonly<Record<string, string>> = {
  'votes exclude': 'exclusion',
  'votes include': 'inclusion',
  approve: 'approval',
  schedule: 'scheduling',
  decline: 'decline',
};

/** Returns a noun for an undone action, or the action in quotes if it has none. */
function nounOf(action: unknown): string {
  return NOUNS[String(action)] ?? `'${action}'`;
}
