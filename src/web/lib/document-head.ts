import { createContext, useContext, useEffect } from 'react';
import { useHasNavigated } from './navigation.tsx';
import type { PageHead } from './page-head.ts';

interface SiteFacts {
  name: string;
  /** The origin of absolute links, without a slash at the end. */
  url: string;
}

export const SiteContext = createContext<SiteFacts>({ name: 'Groundswell', url: '' });

export function useSiteName(): string {
  return useContext(SiteContext).name;
}

export function useSiteUrl(): string {
  return useContext(SiteContext).url;
}

/** What the document said of the page that it was loaded for, and what is not true of another one. */
const OF_LOADED_PAGE = 'link[rel="alternate"],script[type="application/ld+json"],meta[property],meta[name^="twitter:"]';

/** The server writes the first head; this keeps it right from then on. */
export function useDocumentHead({ title, description, canonical, noindex = false }: PageHead): void {
  const siteUrl = useSiteUrl();
  const navigated = useHasNavigated();
  useEffect(() => {
    document.title = title;
    if (!navigated) return;
    for (const element of document.head.querySelectorAll(OF_LOADED_PAGE)) element.remove();
    setTag('meta', 'name', 'description', 'content', description);
    setTag('meta', 'name', 'robots', 'content', noindex ? 'noindex' : undefined);
    setTag('link', 'rel', 'canonical', 'href', canonical && siteUrl + canonical);
  }, [title, description, canonical, noindex, siteUrl, navigated]);
}

/** Without a value the tag is taken away. */
function setTag(element: string, key: string, name: string, attribute: string, value: string | undefined): void {
  const found = document.head.querySelector(`${element}[${key}="${name}"]`);
  if (value === undefined) {
    found?.remove();
    return;
  }
  const tag = found ?? document.head.appendChild(document.createElement(element));
  tag.setAttribute(key, name);
  tag.setAttribute(attribute, value);
}
