import { expect } from 'vitest';

/** An item of structured data (schema.org) in a page. */
export type Item = { '@type': string } & Record<string, unknown>;

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

function decoded(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Returns the attributes of all elements with this name in a page's head. */
export function headElements(html: string, element: 'link' | 'meta'): Record<string, string>[] {
  const head = html.slice(0, html.indexOf('</head>'));
  return [...head.matchAll(new RegExp(`<${element} ([^>]*)>`, 'g'))].map(([, attributes = '']) =>
    Object.fromEntries(
      [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name, value = '']) => [name, decoded(value)]),
    ),
  );
}

export function titleOf(html: string): string {
  return decoded(/<title>([^<]*)<\/title>/.exec(html)?.[1] ?? '');
}

/** Returns the content of `<meta name>` or `<meta property>`. */
export function metaOf(html: string, name: string): string | undefined {
  return headElements(html, 'meta').find((meta) => meta.name === name || meta.property === name)?.content;
}

export function canonicalOf(html: string): string | undefined {
  return headElements(html, 'link').find(({ rel }) => rel === 'canonical')?.href;
}

/** Returns the items of the page's block of structured data, or none if it has no block. */
export function structuredDataOf(html: string): Item[] {
  const blocks = [...html.matchAll(/<script type="application\/ld\+json">([\s\S]*?)<\/script>/g)];
  expect(blocks.length).toBeLessThanOrEqual(1);
  const [, text] = blocks[0] ?? [];
  if (text === undefined) return [];
  const { '@context': context, '@graph': graph } = JSON.parse(text);
  expect(context).toBe('https://schema.org');
  return graph;
}

/** Returns the only item of a type. */
export function itemOf(html: string, type: string): Item {
  const [item, ...more] = structuredDataOf(html).filter((each) => each['@type'] === type);
  if (item === undefined || more.length > 0) throw new Error(`The page does not have exactly one ${type}`);
  return item;
}
