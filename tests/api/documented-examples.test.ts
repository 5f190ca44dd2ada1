import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadSample } from '../../src/core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../../src/core/catalogue/sample-catalogue.ts';
import { hideComments, restoreComments } from '../../src/core/comments/moderate-comments.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { readText } from '../arch/source-files.ts';
import { type CurlExample, curlExamplesOf, patternOf } from '../support/curl-examples.ts';
import { instantPictures } from '../support/instant-pictures.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** The base URL in the document's examples. */
const WRITTEN = 'http://127.0.0.1:3000';

const blocks = curlExamplesOf(await readText('docs/api.md'));

let site: TestSite;
let address: string;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true, submittedPictures: instantPictures(), hasModerationLog: true });
  await loadSample(site.database, await readSampleCatalogue(PACKAGE_FOLDERS.catalogue), systemRuntime);
  const comments = await site.database.query<{ id: string }>(
    "SELECT id FROM comments WHERE product_id = 'git' LIMIT 1",
  );
  const ids = comments.map(({ id }) => id);
  await hideComments(site.database, ids, 'spam');
  await restoreComments(site.database, ids);
  address = await site.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => site.close());

describe('the examples in docs/api.md, on a site with the sample catalogue, return the documented responses', () => {
  test('the document has examples', () => {
    expect(blocks.flat().length).toBeGreaterThan(12);
  });

  // Within a block, later examples depend on earlier writes.
  for (const examples of blocks) {
    test(examples.map(({ command }) => command).join(', '), async () => {
      for (const example of examples) {
        expect(example.url.startsWith(`${WRITTEN}/`)).toBe(true);
        expect(await responseTo(example)).toMatch(patternOf(example.response));
      }
    });
  }

  test('the check detects a wrong response', () => {
    expect('{"likes":8}').toMatch(patternOf('{"likes":…}'));
    expect('{"likes":8}').not.toMatch(patternOf('{"likes":7}'));
  });
});

async function responseTo({
  url,
  method,
  headers,
  body,
  showsHead,
  isStream,
  response: expected,
}: CurlExample): Promise<string> {
  const stop = new AbortController();
  const init = { method, headers, signal: stop.signal, ...(body === undefined ? {} : { body }) };
  const response = await fetch(url.replace(WRITTEN, address), init);
  if (isStream) {
    // Only the beginning of a stream is fixed. Later events depend on other tests.
    const { value } = (await response.body?.getReader().read()) ?? {};
    stop.abort();
    const [first = ''] = new TextDecoder().decode(value).split('\n');
    const [field = ''] = expected.split(':', 1);
    expect(first.startsWith(`${field}: `), first).toBe(true);
    return expected.replaceAll('…', '');
  }
  const text = await response.text();
  if (!showsHead) return text;
  const shown = expected.split('\n').slice(1);
  const names = shown.slice(0, shown.includes('') ? shown.indexOf('') : undefined).map((line) => line.split(':', 1)[0]);
  const fields = names.map((name = '') => `${name}: ${response.headers.get(name)}`);
  return [`HTTP/1.1 ${response.status} ${response.statusText}`, ...fields, ...(text === '' ? [] : ['', text])].join(
    '\n',
  );
}
