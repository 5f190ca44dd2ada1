import type { Sql } from '../database/database.ts';
import { foldText } from '../search-text.ts';
import { Sampled } from './product-changes.ts';

/** A new product that may be one that is there already under another id. */
export interface PossibleDuplicate {
  id: string;
  name: string;
  line: number;
  /** The product of the same name. */
  of: string;
}

const SELECT_NAMES = 'SELECT id, name FROM products WHERE id > $1 ORDER BY id LIMIT 5000';

/** Looks for new products whose names differ from another's in case, marks and blanks at most. */
export class DuplicateNames {
  readonly found = new Sampled<PossibleDuplicate>();
  /** New products by folded name, the first of each. */
  readonly #firsts = new Map<string, { id: string; line: number }>();
  /** New products that were found to be namesakes of such a first one. */
  readonly #others = new Set<string>();

  add({ id, name, line }: { id: string; name: string; line: number }): void {
    const key = keyOf(name);
    const first = this.#firsts.get(key);
    if (first === undefined) {
      this.#firsts.set(key, { id, line });
      return;
    }
    this.#others.add(id);
    this.found.add({ id, name, line, of: first.id });
  }

  /** Compares the new names with those of all products, each read once. */
  async compareWithSite(sql: Sql): Promise<void> {
    if (this.#firsts.size === 0) return;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: { id: string; name: string }[] = await sql.query(SELECT_NAMES, [after]);
      for (const { id, name } of rows) {
        const first = this.#firsts.get(keyOf(name));
        if (first !== undefined && first.id !== id && !this.#others.has(id)) {
          this.found.add({ id: first.id, name, line: first.line, of: id });
        }
      }
      after = rows.at(-1)?.id;
    }
  }
}

/** Letters and digits alone; a name of none of them is itself. */
function keyOf(name: string): string {
  return foldText(name).replaceAll(/[^\p{L}\p{N}]/gu, '') || name;
}
