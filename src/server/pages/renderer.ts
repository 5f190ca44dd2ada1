import { createHash } from 'node:crypto';
import type { ReadApi } from '../../contract/api.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import { emptyPage, type RenderRequest, render } from '../../web/entry-server.tsx';
import { type ClientBuild, renderDocument } from './document.ts';

/** Turns an address into a whole document; the same for every visitor. */
export interface PageRenderer {
  readonly siteName: string;
  readonly brand: Brand;
  /** The origin of absolute links, without a slash at the end. */
  siteUrl(): string;
  /** The digest of the inline script, for the content security policy. */
  readonly scriptHash: string;
  /** `moment` is that of the site's clock. Reads through `api`, so its caller can record dependencies. */
  render(
    path: string,
    api: ReadApi,
    moment?: Pick<RenderRequest, 'today' | 'renderedAt'>,
  ): Promise<{ status: number; html: string; problems: readonly Error[] }>;
  /** The document without a page, from which an offline browser starts. */
  shell(): string;
}

export interface RendererOptions {
  siteName: string;
  siteUrl: () => string;
  build: ClientBuild;
  /** SITE_TIME_ZONE. */
  timeZone?: string | undefined;
  votesPerNetwork?: number | undefined;
  /** Unset: as specified. */
  brand?: Brand | undefined;
  /** Set if visitors may submit products; `timeZone` is the site's. */
  submissions?: { timeZone: string } | undefined;
}

/** The renderer of a built site. */
export function createPageRenderer({
  siteName,
  siteUrl,
  build,
  brand = NO_BRAND,
  ...others
}: RendererOptions): PageRenderer {
  const features = { ...others, brand: brand.page };
  return {
    siteName,
    brand,
    siteUrl,
    scriptHash: scriptHashOf(build.headScript),
    async render(path, api, moment) {
      const page = await render({ ...features, url: path, api, siteName, siteUrl: siteUrl(), ...moment });
      return { status: page.status, html: renderDocument(page, build, brand), problems: page.problems ?? [] };
    },
    shell: () => renderDocument(emptyPage(siteName, siteUrl(), features), build, brand),
  };
}

/** A script's hash for the policy: 'sha256-…'. */
export function scriptHashOf(script: string): string {
  return `sha256-${createHash('sha256').update(script).digest('base64')}`;
}
