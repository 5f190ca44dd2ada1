import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Oembed } from '../../src/server/routes/oembed.ts';
import { HOSTILE } from '../hostile/corpus.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const ORIGIN = 'http://groundswell.test';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite();
  await site.addProduct({ id: 'git', name: 'Git', maker: 'Linus' });
});

afterAll(() => site.close());

const addressOf = (url: string, more: Record<string, string> = {}) =>
  `/oembed?${new URLSearchParams({ url, ...more })}`;
const embed = (url: string, more?: Record<string, string>) => site.ask.json<Oembed>(addressOf(url, more));

describe('the oEmbed response of a product', () => {
  test('is a link with a picture, with absolute URLs of the site', async () => {
    const response = await site.ask.get(addressOf(`${ORIGIN}/product/git`, { format: 'json' }), {
      host: 'evil.example',
    });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toEqual({
      version: '1.0',
      type: 'rich',
      title: 'Git',
      author_name: 'Linus',
      provider_name: 'Groundswell',
      provider_url: `${ORIGIN}/`,
      cache_age: 86_400,
      html: `<a href="${ORIGIN}/product/git"><img src="${ORIGIN}/og/git.png" width="600" height="315" alt="Git, on Groundswell"></a>`,
      width: 600,
      height: 315,
      thumbnail_url: `${ORIGIN}/og/git.png`,
      thumbnail_width: 1_200,
      thumbnail_height: 630,
    });
  });

  test.each(['https://groundswell.test/product/git', `${ORIGIN}/product/git?comments=x#comments`])(
    'is also found by the URL %s',
    async (url) => {
      expect((await embed(url)).title).toBe('Git');
    },
  );

  const BOUNDS: [bounds: Record<string, string>, width: number, height: number][] = [
    [{ maxwidth: '300' }, 300, 157],
    [{ maxheight: '100' }, 190, 100],
    [{ maxwidth: '400', maxheight: '100' }, 190, 100],
    [{ maxwidth: '2000', maxheight: '2000' }, 600, 315],
    [{ maxwidth: '1' }, 1, 1],
  ];

  test.each(BOUNDS)('is no larger than %j: %i × %i', async (bounds, width, height) => {
    const response = await embed(`${ORIGIN}/product/git`, bounds);
    expect(response).toMatchObject({ width, height });
    expect(response.html).toContain(`width="${width}" height="${height}"`);
    expect('thumbnail_url' in response).toBe(bounds.maxwidth === '2000');
  });

  test('contains only a link and a picture, whatever the name of the product', async () => {
    for (const { text } of HOSTILE.filter(({ text }) => !text.includes('\u0000') && text.isWellFormed())) {
      const { id } = await site.addProduct({ name: text, maker: text });
      const { html, title } = await embed(`${ORIGIN}/product/${id}`);
      const alternative = /^<a href="[^"<>]*"><img src="[^"<>]*" width="600" height="315" alt="([^"<>]*)"><\/a>$/.exec(
        html,
      );
      expect(alternative, html).not.toBeNull();
      expect(typeof title).toBe('string');
    }
  });
});

describe('refused oEmbed requests', () => {
  test.each([
    `${ORIGIN}/`,
    `${ORIGIN}/product/nothing`,
    `${ORIGIN}/product/git/comments.xml`,
    `${ORIGIN}/product/../../etc`,
    'http://evil.example/product/git',
    'http://groundswell.test@evil.example/product/git',
    `https://\\/${'語'.repeat(254)}/product/git`,
    `http://${'a'.repeat(254)}@groundswell.test/product/git`,
    'http://groundswell.test:81/product/git',
    'ftp://groundswell.test/product/git',
    'javascript:alert(1)',
    '/product/git',
    'git',
  ])('%s, which is not a product of this site, returns 404', async (url) => {
    expectProblem(await site.ask.get(addressOf(url), { host: 'evil.example' }), 404, 'product_not_found');
  });

  test('a request for XML returns 501', async () => {
    const response = await site.ask.get(addressOf(`${ORIGIN}/product/git`, { format: 'xml' }));
    expectProblem(response, 501, 'not_implemented', 'Only format=json is supported.');
  });

  test.each([
    '/oembed',
    `/oembed?url=${ORIGIN}/product/git&maxwidth=0`,
    `/oembed?url=${ORIGIN}/product/git&maxheight=x`,
  ])('%s returns 400', async (path) => expectProblem(await site.ask.get(path), 400, 'bad_request'));
});
