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
 * Sets the document's title and, after a navigation, its other metadata. For the first page, the server renders the
 * metadata.
 */
export function useDocumentHead({ title, description, canonical, noindex = false }: PageHead): void {
  const { url: siteUrl } = useSite();
  const navigated = useHasNavigated();
  useEffect(() => {
    document.title = title;
    if (!navigated) return;
    // Loads the code on demand, because visitors do not see these tags, and the server has rendered those of the first
    // page.
    import('./head-tags.ts').then(
      (module) =>
        module.writeHeadTags({ description, noindex, canonical: canonical && siteUrl + localAddress(canonical) }),
      () => {},
    );
  }, [title, description, canonical, noindex, siteUrl, navigated]);
}

/** The document head of a page: its title, and metadata for search engines and link previews. */
export interface PageHead {
  title: string;
  description: string;
  /** The canonical path. Unset if the page is not indexed. */
  canonical?: string;
  /** If true, search engines must not index the page. */
  noindex?: boolean;
}

/** Returns the document head of a page without content, which search engines must not index. */
export function unlistedHead(title: PlainMessage, site: SiteTitle): PageHead {
  return { title: `${t(title)} · ${site.name}`, description: translated(taglineOf(site)), noindex: true };
}

/**
 * A document head with further metadata. Only the server writes it, because only search engines and other sites read
 * it.
 */
export interface DocumentHead extends PageHead {
  /** The link preview picture of the page: its path and its alternative text. */
  card?: { path: string; alt: string };
  /** Alternative formats of the page, as paths. */
  alternates?: readonly { type: string; path: string; title: string }[];
  /** Items in the vocabulary of schema.org. */
  structuredData?: readonly object[];
}
