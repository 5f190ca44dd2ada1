import { createContext, useContext, useEffect } from 'react';
import { type Site, taglineOf } from '../../contract/site.ts';
import type { PlainMessage } from '../language/catalogue.ts';
import { localAddress, t, translated } from '../language/translate.ts';
import { useHasNavigated } from './router.tsx';

export const SiteContext = createContext<Site>({ name: 'Groundswell', url: '', today: '' });

export function useSite(): Site {
  return useContext(SiteContext);
}

/** The site's name and tagline, for titles and descriptions. */
export type SiteTitle = Pick<Site, 'name' | 'tagline'>;

/**
 * Sets the document's title and, after a navigation, its other metadata. The server renders the metadata of the first
 * page.
 */
export function useDocumentHead({ title, description, canonical, noindex = false }: PageHead): void {
  const { url: siteUrl } = useSite();
  const navigated = useHasNavigated();
  useEffect(() => {
    document.title = title;
    if (!navigated) return;
    // Visitors do not see these tags, and the server has rendered those of the first page, so the code loads on demand.
    import('./head-tags.ts').then(
      (module) =>
        module.writeHeadTags({ description, noindex, canonical: canonical && siteUrl + localAddress(canonical) }),
      () => {},
    );
  }, [title, description, canonical, noindex, siteUrl, navigated]);
}

/** The title of a page, and its metadata for search engines and link previews. */
export interface PageHead {
  title: string;
  description: string;
  /** The canonical path. Unset if the page is not indexed. */
  canonical?: string;
  /** Whether search engines must not index the page. */
  noindex?: boolean;
}

/** Returns the head of a page without content, which search engines must not index. */
export function unlistedHead(title: PlainMessage, site: SiteTitle): PageHead {
  return { title: `${t(title)} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}

/** A head with further metadata, which only search engines and other sites read, so only the server writes it. */
export interface DocumentHead extends PageHead {
  /** The link preview picture of the page: its path and its alternative text. */
  card?: { path: string; alt: string };
  /** Alternative formats of the page, as paths. */
  alternates?: readonly { type: string; path: string; title: string }[];
  /** Items in the vocabulary of schema.org. */
  structuredData?: readonly object[];
}
