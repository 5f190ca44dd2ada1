import type { BackupHeader } from '../core/backups/backup-format.ts';

/** What a backup holds, in few words: `67 products, 145 upvotes and 24 comments as of 2026-11-20T22:31:33Z`. */
export function describeBackup({ tables, createdAt }: BackupHeader): string {
  const count = (name: string) => (tables.find((table) => table.name === name)?.rows ?? 0).toLocaleString('en');
  return `${count('products')} products, ${count('upvotes')} upvotes and ${count('comments')} comments as of ${createdAt}`;
}
