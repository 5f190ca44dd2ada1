import { expect, test } from 'vitest';
import { SETTING_NAMES } from '../../src/settings/settings.ts';
import { filesBelow, readText } from './source-files.ts';

/** Folders that could be separate packages. Import rules keep the site's code out of the first two. */
const FOLDERS = ['src/core/database/embedded', 'src/server/cards/renderer', 'src/server/task-process'];

const mentionsSite = (text: string) => /groundswell/i.test(text) || SETTING_NAMES.some((name) => wordIn(text, name));
const wordIn = (text: string, word: string) => new RegExp(`\\b${word}\\b`).test(text);

test.each(FOLDERS)('%s mentions neither the name nor a setting of the site', async (folder) => {
  const files = (await filesBelow(folder)).filter((path) => !path.endsWith('.test.ts'));
  expect(files).not.toEqual([]);
  for (const path of files) expect(mentionsSite(await readText(path)), path).toBe(false);
});

test('the check finds the name and the settings of the site', () => {
  expect(['/var/lib/groundswell', 'Set DATABASE_URL to a server'].every(mentionsSite)).toBe(true);
});
