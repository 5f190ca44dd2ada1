import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../../tests/support/browser-storage.ts';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { draftOf } from './draft.ts';
import { deleteEdit, deleteStoredEdit, saveEdit, unsavedEditOf } from './unsaved-edits.ts';

const localStorage = createBrowserStorage();
const { stored } = localStorage;

beforeEach(() => {
  stored.clear();
  vi.stubGlobal('window', { localStorage });
});

afterEach(() => vi.unstubAllGlobals());

const DAY_MS = 24 * 60 * 60_000;
const submission = (id: string) => ({ id, revision: 1, launchAt: null, product: exampleProduct({ id }) }) as Submission;
const edit = (base: Submission, description: string) => ({ ...draftOf(base), description });
const textOn = (id: string, now?: number) => unsavedEditOf(id, now)?.draft.description;

test('an edit is stored with its base until it changes nothing', () => {
  const base = submission('harbour');
  saveEdit(base, edit(base, 'Calm'));
  expect(unsavedEditOf('harbour')).toMatchObject({ base, draft: { description: 'Calm' } });
  expect(unsavedEditOf('pier')).toBeUndefined();
  saveEdit(base, draftOf(base));
  expect(stored.size).toBe(0);
});

test('a saved edit is deleted, unless another dialog has stored a later one', () => {
  const base = submission('harbour');
  const [first, second] = [edit(base, 'Calm'), edit(base, 'Calm water')];
  saveEdit(base, first);
  saveEdit(base, second);
  deleteEdit(first);
  expect(textOn('harbour')).toBe('Calm water');
  deleteEdit(second);
  expect(stored.size).toBe(0);
});

test('an edit whose changes the submission already has is deleted', () => {
  const base = submission('harbour');
  const draft = edit(base, 'Calm');
  saveEdit(base, draft);
  deleteStoredEdit(base);
  expect(textOn('harbour')).toBe('Calm');
  deleteStoredEdit({ ...base, revision: 2, product: { ...base.product, description: 'Calm' } });
  expect(textOn('harbour')).toBeUndefined();
});

test('only the 20 latest edits are stored, and none for longer than 30 days', () => {
  const save = (number: number, now: number) => {
    const base = submission(`p${number}`);
    saveEdit(base, edit(base, `Text ${now}`), now);
  };
  for (let number = 1; number <= 21; number += 1) save(number, number);
  expect(['p1', 'p2', 'p21'].map((id) => textOn(id, 21))).toEqual([undefined, 'Text 2', 'Text 21']);
  const later = 30 * DAY_MS + 20;
  expect(['p20', 'p21'].map((id) => textOn(id, later))).toEqual([undefined, 'Text 21']);
  save(2, later);
  expect(['p2', 'p20', 'p21'].map((id) => textOn(id, 21))).toEqual([`Text ${later}`, undefined, 'Text 21']);
});

test.each([
  'null',
  '{"p1":{}}',
  '[null, 7, {}]',
  '[{"at":1,"draft":{},"base":{"id":"p1","revision":1,"product":{"team":[null],"screenshots":[]}}}]',
])('stored values that are not edits are ignored: %s', (text) => {
  stored.set('submission_edits', text);
  expect(unsavedEditOf('p1')).toBeUndefined();
});

test('an edit whose base lacks fields is ignored', () => {
  const base = submission('harbour');
  saveEdit(base, edit(base, 'Calm'));
  const text = stored.get('submission_edits') ?? '';
  for (const missing of ['revision', 'product', 'name', 'team', 'screenshots']) {
    stored.set('submission_edits', text.replaceAll(`"${missing}"`, '"other"'));
    expect(unsavedEditOf('harbour'), missing).toBeUndefined();
  }
});

test('an edit is kept if an earlier version of the site stored it without a field', () => {
  const base = submission('harbour');
  saveEdit(base, { ...edit(base, 'Calm'), maker: 'Ada' });
  stored.set('submission_edits', (stored.get('submission_edits') ?? '').replaceAll(/"(maker|category)":"[^"]*",/g, ''));
  const read = unsavedEditOf('harbour');
  expect(read?.draft).toMatchObject({ name: 'Harbour', description: 'Calm', maker: '', category: '' });
  expect(draftOf(read?.base ?? base)).toMatchObject({ name: 'Harbour', maker: '', category: '' });
});
