import { siteLanguages } from '../../src/server/pages/languages.ts';
import type { RendererFactory } from '../../src/server/site-process.ts';
import { NO_BRAND } from '../../src/settings/brand.ts';

/** Creates a renderer without pages, for tests of `serve` that need none. */
export const createRenderer: RendererFactory = async ({ site }) => ({
  site,
  brand: NO_BRAND,
  shell: () => '',
  scriptHash: '',
  languages: siteLanguages({}, () => undefined),
  render: async () => ({ status: 404, html: 'Oops! Page not found', problems: [] }),
});
