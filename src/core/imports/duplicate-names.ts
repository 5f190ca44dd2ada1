import type { Sql } from '../database/database.ts';
import { foldText } from '../search-text.ts';
import { Sampled } from './import-changes.ts';
import type { Position } from './import-faults.ts';

/** A new product that may exist already under another id. */
export interface PossibleDuplicate extends Position {
  id: string;
  name: string;
  /** The product of the same name. */
  of: string;
}

const SELECT_NAMES = 'SELECT id, name FROM products WHERE id > $1 ORDER BY id LIMIT 5000';

/** Finds new products whose names differ from another's at most in case, punctuation and spaces. */
export class DuplicateNames {
  readonly found = new Sampled<PossibleDuplicate>();
  /** New products by folded name, the first of each. */
  readonly #firsts = new Map<string, Position & { id: string }>();
  /** Further new products with the same name as such a first one. */
  readonly #others = new Set<string>();

  add({ id, name, line, item }: Position & { id: string; name: string }): void {
    const key = keyOf(name);
    const first = this.#firsts.get(key);
    if (first === undefined) {
      this.#firsts.set(key, { id, line, item });
      return;
    }
    this.#others.add(id);
    this.found.add({ id, name, line, item, of: first.id });
  }

  /** Compares the new names with those of all products, each read once. */
  async compareWithSite(sql: Sql): Promise<void> {
    if (this.#firsts.size === 0) return;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: { id: string; name: string }[] = await sql.query(SELECT_NAMES, [after]);
      for (const { id, name } of rows) {
        const first = this.#firsts.get(keyOf(name));
        if (first !== undefined && first.id !== id && !this.#others.has(id)) {
          this.found.add({ ...first, name, of: id });
        }
      }
      after = rows.at(-1)?.id;
    }
  }
}

/** Letters and digits only; a name without any is compared as it is. */
function keyOf(name: string): string {
  return foldText(name).replaceAll(/[^\p{L}\p{N}]/gu, '') || name;
}
