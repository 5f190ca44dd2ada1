import type { QueryClient } from '@tanstack/react-query';
import { renderToStaticMarkup, renderToString } from 'react-dom/server';
import type { ReadApi } from '../contract/api.ts';
import * as paths from '../contract/paths.ts';
import { isModerationLog, matchRoute, type RouteName } from '../contract/routes.ts';
import { type Site, taglineOf } from '../contract/site.ts';
import { readOnlyApi } from './api/api-context.tsx';
import { App, SCREENS } from './app.tsx';
import { createQueryClient, type PageState, scriptJson, writePageState } from './cache/query-client.ts';
import type { Catalogue } from './language/catalogue.ts';
import {
  inLanguage,
  type Language,
  localAddress,
  plural,
  t,
  translated,
  withoutLanguage,
} from './language/translate.ts';
import { type PageRequest, type ReadHead, readPage } from './read-page.ts';
import { LANDSCAPES } from './routes/home/home.tsx';
import { SUBMIT_LINK } from './routes/layout/site-header.tsx';
import { LogPage, logHead } from './routes/log/log-page.tsx';
import { MAKER, PRODUCT_SIDE, RELATED, STANDING } from './routes/product/product.tsx';
import { StaticRouter } from './routing/router.tsx';

// Exported for the server, which renders and translates the HTML document around the page.
export { inLanguage, localAddress, plural, t };

// The server loads the code of all pages when it starts, because a build may replace the files while the server runs.
await Promise.all(
  [...Object.values(SCREENS), STANDING, SUBMIT_LINK, MAKER, LANDSCAPES, PRODUCT_SIDE, RELATED].map((screen) =>
    screen.preload(),
  ),
);

/**
 * The languages other than English, by code, from all files in `catalogues`. Empty without Vite, because only Vite
 * provides `import.meta.glob`.
 */
export const CATALOGUES: Readonly<Record<string, Catalogue>> = import.meta.env
  ? Object.fromEntries(
      Object.entries(import.meta.glob<Catalogue>('./language/catalogues/*.ts', { eager: true, import: 'default' })).map(
        ([file, catalogue]) => [file.replace(/^.*\/|\.ts$/g, ''), catalogue],
      ),
    )
  : {};

interface RenderRequest {
  /** Path and query, e.g. `/?q=a`. */
  url: string;
  api: ReadApi;
  site: Site;
  /** Milliseconds since 1970 on the site's clock. Default: the current time on the server's clock. */
  renderedAt?: number | undefined;
  /** If unset, pages are English only. */
  languages?: { all: readonly NamedLanguage[]; of(path: string): PageLanguage } | undefined;
}

/** The language of a document. */
export interface PageLanguage extends Language {
  /** The BCP 47 tag of the document. */
  tag: string;
  /** The URL of the messages for the browser. Unset for English. */
  script?: string | undefined;
}

export interface NamedLanguage extends PageLanguage {
  code: string;
  /** The name of the language in the language itself. */
  name: string;
}

export interface RenderedPage extends Omit<ReadHead, 'structuredData'> {
  site: Site;
  /** The route whose code the browser needs. If unset, the page needs no code. */
  route?: RouteName;
  language?: PageLanguage | undefined;
  /** All languages of the site. Default: English only. */
  languages?: readonly NamedLanguage[] | undefined;
  /** The path and query of the page, without its language. */
  path?: string;
  /** The content of `<div id="root">`. */
  html: string;
  /** JSON for `<script type="application/json" id="state">`, safe to embed. */
  state: string;
  /** JSON for `<script type="application/ld+json">`, safe to embed. */
  structuredData?: string;
  /** Failed reads, for the server's log. The specification prescribes the wording of some messages. */
  problems?: Error[];
}

/** Renders a page without per-visitor data, so one response serves every visitor. Does not reject if a read fails. */
export async function render({
  url,
  api,
  site: given,
  renderedAt = Date.now(),
  languages,
}: RenderRequest): Promise<RenderedPage> {
  const language = languages?.of(url);
  const { pathname, searchParams } = new URL(url, 'http://page.invalid');
  const { getModerationLog } = api;
  const site: Site = getModerationLog ? { ...given, hasModerationLog: true } : given;
  const common = {
    site,
    language,
    languages: languages?.all,
    path: withoutLanguage(url),
  };
  if (getModerationLog && isModerationLog(pathname, searchParams)) {
    return { ...(await renderLog({ getModerationLog, site, searchParams, language })), ...common };
  }
  const client = createQueryClient('server');
  const headOf = await readPage({ client, api, site, pathname, searchParams });
  const { structuredData, ...head } = inLanguage(language, headOf);
  const html = inLanguage(language, () =>
    renderToString(
      <StaticRouter url={url}>
        <App api={readOnlyApi(api)} client={client} site={site} renderedAt={renderedAt} />
      </StaticRouter>,
    ),
  );
  const route = matchRoute(pathname, searchParams).name;
  const state = writePageState(client, { site, renderedAt, ...stateOf(language) });
  const problems = failuresIn(client);
  client.clear();
  return {
    ...head,
    ...(structuredData?.length && {
      structuredData: scriptJson({ '@context': 'https://schema.org', '@graph': structuredData }),
    }),
    ...{ route, html, state, problems },
    ...common,
  };
}

async function renderLog({
  getModerationLog,
  site,
  searchParams,
  language,
}: Pick<PageRequest, 'site' | 'searchParams'> & {
  getModerationLog: NonNullable<ReadApi['getModerationLog']>;
  language: PageLanguage | undefined;
}): Promise<RenderedPage> {
  const cursor = searchParams.get('cursor') ?? '';
  const problems: Error[] = [];
  const log = await getModerationLog(cursor === '' ? {} : { cursor }).catch((error: Error) => {
    problems.push(error);
    return undefined;
  });
  const { head, html } = inLanguage(language, () => ({
    head: logHead(site.name),
    html: renderToStaticMarkup(<LogPage siteName={site.name} logo={site.logo} log={log} isContinued={cursor !== ''} />),
  }));
  return { ...head, status: log ? 200 : 503, site, html, state: '', problems };
}

/** Returns the offline shell: a page without content, for which the browser reads the data and renders everything. */
export function emptyPage({
  site,
  renderedAt = Date.now(),
  languages,
}: Pick<RenderRequest, 'site' | 'renderedAt' | 'languages'>): RenderedPage {
  const language = languages?.of(paths.home);
  const byParam = languages?.all.map(
    ({ messages: _, code, name: __, ...known }) => [known.param ?? '', known] as const,
  );
  const known = {
    site,
    renderedAt,
    ...stateOf(language),
    ...(byParam && byParam.length > 1 && { languages: Object.fromEntries(byParam) }),
  };
  const state = writePageState(createQueryClient('server'), known);
  const description = inLanguage(language, () => translated(taglineOf(site)));
  const head = { title: site.name, description, noindex: true };
  return { ...head, status: 200, site, language, route: 'home', html: '', state };
}

/** Returns the language data that the browser needs. Empty for English pages without a language parameter. */
function stateOf(language: PageLanguage | undefined): Pick<PageState, 'language'> {
  if (language === undefined || (!language.script && !language.param)) return {};
  const { locale, param, dir, script } = language;
  return { language: { locale, ...(param && { param }), ...(dir && { dir }), ...(script && { script }) } };
}

function failuresIn(client: QueryClient): Error[] {
  const errors = client
    .getQueryCache()
    .getAll()
    .map((query) => query.state.error);
  return errors.filter((error) => error !== null);
}
