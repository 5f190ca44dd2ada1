import { createHash } from 'node:crypto';
import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import { PRODUCT_FIELD_NAMES, PRODUCT_FIELDS } from '../../contract/products/fields.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { completeProduct } from '../products/save-products.ts';
import type { ProductPatch } from './read-product.ts';
import { slugOfName } from './read-values.ts';

/** A product of the site whose id is the slug of a name, with or without a number. */
interface ProductWithSlug {
  id: string;
  createdAt: string;
  /** A fingerprint of the product's pictures. */
  pictures: string;
}

/** A row without an id. */
interface Row {
  slug: string;
  product: StoredProduct;
  patch: ProductPatch;
}

interface SlugState {
  /** The next number to try. 1 means the slug without a number. */
  nextNumber: number;
  /**
   * Products of the site that no row has matched yet, by a fingerprint of their content without id, time and pictures.
   */
  matchCandidates?: Map<string, ProductWithSlug[]>;
  /** The ids for this slug that products of the site or submissions already have. */
  takenIds?: Set<string>;
}

const SELECT_PRODUCTS_WITH_SLUG = `SELECT wanted.slug, ${PRODUCT_COLUMNS}
  FROM unnest($1::text[]) AS wanted (slug)
  CROSS JOIN LATERAL (
    SELECT * FROM products WHERE id = wanted.slug
    UNION ALL
    SELECT * FROM products
    WHERE id > (wanted.slug || '-') COLLATE "C" AND id < (wanted.slug || '.') COLLATE "C"
      AND substr(id, length(wanted.slug) + 2) ~ '^[1-9][0-9]*$'
  ) AS p
  LEFT JOIN product_counts c ON c.product_id = p.id`;

/** Selects ids that submissions have reserved for their products. */
const SELECT_RESERVED = `SELECT wanted.slug, s.id
  FROM unnest($1::text[]) AS wanted (slug)
  JOIN submissions s ON s.id = wanted.slug
    OR (s.id > (wanted.slug || '-') COLLATE "C" AND s.id < (wanted.slug || '.') COLLATE "C")`;

/**
 * Assigns ids to rows without an id: a slug of the name, with a number if another product has the slug. If a product of
 * the site has such an id and the same content as a row, except for pictures from local files, the row gets the id of
 * that product. Importing a file again therefore gives the same ids, and no row overwrites an unrelated product.
 */
export class IdAssigner {
  readonly #idsOfFile: ReadonlyMap<string, unknown>;
  readonly #slugs = new Map<string, SlugState>();
  /** The ids assigned so far, for all slugs: a slug with a number may equal the slug of another name. */
  readonly #assigned = new Set<string>();
  /** The assigned ids that belong to no product of the site. */
  readonly newIds: string[] = [];

  /** @param idsOfFile the ids of the file's other rows, as keys. */
  constructor(idsOfFile: ReadonlyMap<string, unknown>) {
    this.#idsOfFile = idsOfFile;
  }

  /** Assigns ids to rows. @returns an id for each patch, in order. @throws CoreError `unavailable`. */
  async assign(sql: Sql, patches: readonly ProductPatch[]): Promise<string[]> {
    const rows = patches.map((patch) => {
      // The creation time given here does not matter, because it is not part of the compared content.
      const product = completeProduct({ ...patch, id: '' }, new Date(0));
      return { slug: slugOfName(product.name), product, patch };
    });
    await this.#readSlugs(sql, rows);
    // Rows whose pictures equal those of a product choose first, so rows with local pictures do not take that product.
    const exact = rows.map((row) => this.#takeMatch(row, picturesOf(row.product)));
    return rows.map((row, index) => exact[index] ?? this.#takeLocalMatch(row) ?? this.#freeId(row.slug));
  }

  async #readSlugs(sql: Sql, rows: readonly Row[]): Promise<void> {
    const unknown = [...new Set(rows.map(({ slug }) => slug))].filter((slug) => !this.#slugs.has(slug));
    if (unknown.length === 0) return;
    for (const slug of unknown) this.#slugs.set(slug, { nextNumber: 1 });
    for (const { slug, id } of await sql.query<{ slug: string; id: string }>(SELECT_RESERVED, [unknown])) {
      const state = this.#slugs.get(slug);
      if (state) state.takenIds = (state.takenIds ?? new Set()).add(id);
    }
    const present = await sql.query<ProductRow & { slug: string }>(SELECT_PRODUCTS_WITH_SLUG, [unknown]);
    for (const row of present) {
      const state = this.#slugs.get(row.slug);
      if (state === undefined || this.#idsOfFile.has(row.id)) continue;
      const product = productOf(row);
      const content = contentOf(product);
      state.takenIds ??= new Set();
      state.takenIds.add(product.id);
      state.matchCandidates ??= new Map();
      const same = state.matchCandidates.get(content) ?? [];
      state.matchCandidates.set(content, same);
      same.push({ id: product.id, createdAt: product.createdAt, pictures: picturesOf(product) });
    }
  }

  /**
   * Finds a product for a row with local pictures. An earlier import may not have copied these pictures, or they may
   * have been replaced since. Prefers a product without pictures, because its pictures can be overwritten without loss.
   */
  #takeLocalMatch(row: Row): string | undefined {
    if (!row.patch.hasLocalPictures) return undefined;
    return this.#takeMatch(row, picturesOf(withoutPictures(row.product))) ?? this.#takeMatch(row);
  }

  /**
   * Finds a product with the content of a row, and with these pictures if given, and removes it from the candidates. A
   * row without a time matches any time.
   * @returns the id of the product, or undefined if none matches.
   */
  #takeMatch({ slug, product, patch: { createdAt } }: Row, pictures?: string): string | undefined {
    const same = this.#slugs.get(slug)?.matchCandidates?.get(contentOf(product)) ?? [];
    const index = same.findLastIndex(
      (each) =>
        (createdAt === undefined || each.createdAt === createdAt) &&
        (pictures === undefined || each.pictures === pictures),
    );
    const [match] = index === -1 ? [] : same.splice(index, 1);
    if (match) this.#assigned.add(match.id);
    return match?.id;
  }

  #freeId(slug: string): string {
    const state = this.#slugs.get(slug);
    if (state === undefined) throw new Error(`The slug ${slug} was not looked up`);
    for (;;) {
      const id = state.nextNumber === 1 ? slug : `${slug}-${state.nextNumber}`;
      state.nextNumber += 1;
      if (this.#idsOfFile.has(id) || this.#assigned.has(id) || state.takenIds?.has(id)) continue;
      this.#assigned.add(id);
      this.newIds.push(id);
      return id;
    }
  }
}

const SEPARATELY_COMPARED: ReadonlySet<string> = new Set(['id', 'createdAt', 'image', 'screenshots', 'team']);
const CONTENT_FIELDS = PRODUCT_FIELD_NAMES.filter((field) => !SEPARATELY_COMPARED.has(field));

/** Returns a fingerprint of a product's content without id, time and pictures. */
function contentOf(product: StoredProduct): string {
  // Members are compared as lists, because the database changes the order of their keys.
  const members = product.team.map(({ name, role }) => [name, role]);
  return fingerprint([...CONTENT_FIELDS.map((field) => product[field]), members]);
}

function picturesOf({ image, screenshots, team }: StoredProduct): string {
  return fingerprint([image, screenshots, team.map(({ avatar }) => avatar)]);
}

function withoutPictures(product: StoredProduct): StoredProduct {
  const team = product.team.map((member) => ({ ...member, avatar: COMMENT_DEFAULTS.authorAvatar }));
  return { ...product, image: PRODUCT_FIELDS.image.default, screenshots: [], team };
}

function fingerprint(values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 22);
}
