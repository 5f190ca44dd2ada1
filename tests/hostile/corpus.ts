import { INTERPRETED_TEXTS, RUN } from './interpreted-texts.ts';
import { UNUSUAL_TEXTS } from './unusual-texts.ts';

/** A text that may break a program. `name` describes the text. */
export interface Hostile {
  name: string;
  text: string;
}

/** Returns the kind of a text, such as 'control character'. Texts of one kind can break the same code. */
const kindOf = ({ name }: Hostile) => name.replace(/ \d+$/, '');

/** Every control character, each between two letters. */
const CONTROLS = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...Array.from({ length: 33 }, (_, code) => 127 + code),
].map((code) => ({ name: `control character ${code}`, text: `a${String.fromCharCode(code)}b` }));

const LONE_SURROGATES = ['\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ude00\ud83d', '\udbff\udbff'].map(
  (text, index) => ({
    name: `lone surrogate ${index + 1}`,
    text,
  }),
);

/** All hostile texts, including those that cannot be stored because of a NUL or a lone surrogate. */
export const HOSTILE: readonly Hostile[] = [
  ...Object.entries({ ...INTERPRETED_TEXTS, ...UNUSUAL_TEXTS }).flatMap(([kind, texts]) =>
    texts.map((text, index) => ({ name: `${kind} ${index + 1}`, text })),
  ),
  ...CONTROLS,
  ...LONE_SURROGATES,
  { name: 'NUL', text: '\0' },
  { name: 'NUL at the end', text: 'abc\0' },
  { name: 'NUL before a script', text: `\0<script>${RUN}</script>` },
];

const SHARE = 5;

/**
 * Returns the texts that a test sends to one of its numbered places, such as a URL or a header: a fifth of all texts,
 * and the first text of each kind. Five consecutive places get all texts. With HOSTILE_TEXTS=all, every place does.
 */
export function hostileTextsFor(place: number): readonly Hostile[] {
  if (process.env.HOSTILE_TEXTS === 'all') return HOSTILE;
  const kinds = HOSTILE.map(kindOf);
  return HOSTILE.filter((_, index) => (index + place) % SHARE === 0 || kinds.indexOf(kinds[index] ?? '') === index);
}
