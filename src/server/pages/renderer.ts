import type { ReadApi } from '../../contract/api.ts';
import { render } from '../../web/entry-server.tsx';
import { type ClientBuild, renderDocument } from './document.ts';

/** Turns an address into a whole document; the same for every visitor. */
export interface PageRenderer {
  render(path: string): Promise<{ status: number; html: string; problems: readonly Error[] }>;
}

export interface RendererOptions {
  api: ReadApi;
  siteName: string;
  siteUrl: () => string;
  build: ClientBuild;
}

/** The renderer of a built site. */
export function createPageRenderer({ api, siteName, siteUrl, build }: RendererOptions): PageRenderer {
  return {
    async render(path) {
      const page = await render({ url: path, api, siteName, siteUrl: siteUrl() });
      return { status: page.status, html: renderDocument(page, build), problems: page.problems ?? [] };
    },
  };
}
