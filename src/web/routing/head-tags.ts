/** Tags of the loaded document that do not apply to other pages. */
const OF_LOADED_PAGE = 'link[rel="alternate"],script[type="application/ld+json"],meta[property],meta[name^="twitter:"]';

/** Replaces the tags of the loaded document by those of another page; `canonical` is absolute. */
export function writeHeadTags({ description, noindex, canonical }: HeadTags): void {
  for (const element of document.head.querySelectorAll(OF_LOADED_PAGE)) element.remove();
  setTag('meta', 'name', 'description', 'content', description);
  setTag('meta', 'name', 'robots', 'content', noindex ? 'noindex' : undefined);
  setTag('link', 'rel', 'canonical', 'href', canonical);
}

interface HeadTags {
  description: string;
  noindex: boolean;
  canonical: string | undefined;
}

/** Sets a tag or, without a value, removes it. */
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
