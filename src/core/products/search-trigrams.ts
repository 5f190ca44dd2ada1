import type { SearchIndex } from './search-index.ts';

/** Three letters or digits in a row, which the index of trigrams keeps, and where they begin, in code units. */
export interface Trigram {
  text: string;
  start: number;
}

/** Letters and digits as the index knows them. Signs and emoji are in no trigram. */
const RUNS: Record<SearchIndex, RegExp> = {
  none: /(?!)/g,
  ascii: /[a-z0-9]{3,}/g,
  unicode: /[\p{L}\p{N}]{3,}/gu,
};

/** Every trigram of a folded text, in its order, each as often as it is there. */
export function* trigramsOf(text: string, index: SearchIndex): Generator<Trigram> {
  for (const run of text.matchAll(RUNS[index])) {
    const characters = Array.from(run[0]);
    let start = run.index;
    for (let first = 0; first + 3 <= characters.length; first += 1) {
      yield { text: characters.slice(first, first + 3).join(''), start };
      start += characters[first]?.length ?? 0;
    }
  }
}

/** How large a share of the products contain a trigram, from 0 to 1. */
export type ShareOf = (trigram: string) => number;

/** So few candidates that looking at each costs less than reading one more list: fifty of a million products. */
const FEW_ENOUGH = 1 / 20_000;
const MOST_ASKED_FOR = 5;

/** What the index is to be asked for. */
export interface RareParts {
  /** Parts of the term, in its order; none: only all of it together, with the ends of its words, is rare. */
  parts: readonly string[];
  /** How large a share of the products contain the term, at most. */
  share: number;
}

/**
 * Chooses the parts of a folded term that hold its rarest trigrams, as many as leave few candidates. For the whole term, the
 * index reads the list of every trigram, of which the frequent ones are long and tell little.
 */
export function rarePartsOf(term: string, index: SearchIndex, shareOf: ShareOf): RareParts {
  const byShare = [...trigramsOf(term, index)].sort((one, other) => shareOf(one.text) - shareOf(other.text));
  const share = byShare[0] === undefined ? 1 : shareOf(byShare[0].text);
  const chosen = new Map<string, Trigram>();
  let candidates = 1;
  for (const trigram of byShare) {
    if (chosen.has(trigram.text)) continue;
    if (chosen.size === MOST_ASKED_FOR) break;
    chosen.set(trigram.text, trigram);
    candidates *= shareOf(trigram.text);
    if (candidates < FEW_ENOUGH) return { parts: joined(term, [...chosen.values()]), share };
  }
  return { parts: [], share };
}

/** Overlapping trigrams make one part, so that all parts can be found one behind the other. */
function joined(term: string, trigrams: readonly Trigram[]): string[] {
  const parts: { start: number; end: number }[] = [];
  for (const { text, start } of trigrams.toSorted((one, other) => one.start - other.start)) {
    const last = parts.at(-1);
    if (last !== undefined && start < last.end) last.end = start + text.length;
    else parts.push({ start, end: start + text.length });
  }
  return parts.map(({ start, end }) => term.slice(start, end));
}
