import type { Random } from './random.ts';
import { EMOJI, SCRIPTS, type Vocabulary, vocabularyOf } from './words.ts';

/** Provides vocabularies of several scripts, as on an international site. */
export interface Writer {
  vocabularyFor(random: Random): Vocabulary;
  latin: Vocabulary;
}

const writers = new Map<number, Writer>();

/** Returns the writer for a seed. Writers are cached, because building their vocabularies takes almost a second. */
export function writerFor(seed: number): Writer {
  const writer = writers.get(seed) ?? createWriter(seed);
  writers.set(seed, writer);
  return writer;
}

function createWriter(seed: number): Writer {
  const scripts = Object.values(SCRIPTS).map((script, index) => ({
    share: script.share,
    vocabulary: vocabularyOf(script, seed + index),
  }));
  const [latin] = scripts;
  if (latin === undefined) throw new Error('There is no script to write in');
  return {
    latin: latin.vocabulary,
    vocabularyFor(random) {
      let left = random.next();
      for (const { share, vocabulary } of scripts) {
        left -= share;
        if (left < 0) return vocabulary;
      }
      return latin.vocabulary;
    },
  };
}

/** Generates sentences with `words` words in total. One text in ten also contains an emoji. */
export function writeText(vocabulary: Vocabulary, random: Random, words: number): string {
  const sentences: string[] = [];
  for (let left = words; left > 0; ) {
    const length = Math.min(left, 5 + random.below(14));
    const sentence = Array.from({ length }, () =>
      random.chance(0.25) ? vocabulary.rareWord(random) : vocabulary.word(random),
    );
    sentences.push(capitalised(sentence.join(vocabulary.spaced ? ' ' : '')) + (vocabulary.spaced ? '.' : '。'));
    left -= length;
  }
  if (random.chance(0.1)) sentences.push(EMOJI[random.below(EMOJI.length)] ?? '');
  return sentences.join(vocabulary.spaced ? ' ' : '');
}

/** Generates a product name of one to three words. */
export function writeName(vocabulary: Vocabulary, random: Random): string {
  const words = Array.from({ length: 1 + random.below(3) }, () => capitalised(vocabulary.rareWord(random)));
  return words.join(vocabulary.spaced ? ' ' : '');
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
