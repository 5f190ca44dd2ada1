import type { ReadApi } from '../../contract/api.ts';
import { emptyPage, render } from '../../web/entry-server.tsx';
import { type ClientBuild, renderDocument } from './document.ts';

/** Turns an address into a whole document; the same for every visitor. */
export interface PageRenderer {
  readonly siteName: string;
  /** The origin of absolute links, without a slash at the end. */
  siteUrl(): string;
  /** Reads what it needs through `api`, so that its caller knows what a page depends on. */
  render(path: string, api: ReadApi): Promise<{ status: number; html: string; problems: readonly Error[] }>;
  /** The document without a page in it, from which a browser that is offline starts. */
  shell(): string;
}

export interface RendererOptions {
  siteName: string;
  siteUrl: () => string;
  build: ClientBuild;
}

/** The renderer of a built site. */
export function createPageRenderer({ siteName, siteUrl, build }: RendererOptions): PageRenderer {
  return {
    siteName,
    siteUrl,
    async render(path, api) {
      const page = await render({ url: path, api, siteName, siteUrl: siteUrl() });
      return { status: page.status, html: renderDocument(page, build), problems: page.problems ?? [] };
    },
    shell: () => renderDocument(emptyPage(siteName, siteUrl()), build),
  };
}
