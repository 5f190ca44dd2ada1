import type { StoredProduct } from '../../src/contract/products/schema.ts';
import { completeProduct } from '../../src/core/products/save-products.ts';
import { type Random, randomFrom, zipf } from './random.ts';
import { capitalised, type Writer, writeName, writerFor, writeText } from './text.ts';

/** The period of the launches, which are spread evenly over it. */
const FIRST = Date.UTC(2020, 0, 1);
const LAST = Date.UTC(2026, 0, 1);

const CATEGORIES = [
  'Developer Tools',
  'Productivity',
  'Design',
  'AI',
  'Education',
  'Health',
  'Finance',
  'Games',
  'Music',
];
const HEAD_TAGS = ['AI', 'Open Source', 'Productivity', 'Developer Tools', 'SaaS', 'Design', 'C++', 'iOS', 'Node.js'];
const TAGS = 5_000;
const ROLES = ['Founder', 'Engineer', 'Designer', 'Marketing', 'Support'];

/** Generates products in the order of their launches, oldest first. */
export function* makeProducts(count: number, seed: number): Generator<StoredProduct> {
  const writer = writerFor(seed);
  const random = randomFrom(seed);
  const tagRank = zipf(TAGS, 1.1, 1);
  const step = (LAST - FIRST) / count;
  let createdAt = FIRST;
  for (let index = 0; index < count; index += 1) {
    // 2% of the products have the launch time of the previous one, like products of one import.
    if (!random.chance(0.02)) createdAt = Math.max(createdAt, Math.floor(FIRST + step * (index + random.next())));
    yield makeProduct({ index, createdAt: new Date(createdAt), random, writer, tagRank });
  }
}

interface ProductSeed {
  index: number;
  createdAt: Date;
  random: Random;
  writer: Writer;
  tagRank: (random: Random) => number;
}

function makeProduct({ index, createdAt, random, writer, tagRank }: ProductSeed): StoredProduct {
  const vocabulary = writer.vocabularyFor(random);
  const id = `${writer.latin.rareWord(random)}-${writer.latin.rareWord(random)}-${index.toString(36)}`;
  const tags = new Set(Array.from({ length: 1 + random.below(5) }, () => tagOf(tagRank(random))));
  const product = {
    id,
    name: writeName(vocabulary, random),
    // Most descriptions are short, and some are long.
    description: writeText(vocabulary, random, 6 + Math.floor(60 * random.next() ** 2)),
    image: `/pictures/seed/${id}.webp`,
    tags: [...tags],
    category: CATEGORIES[random.below(CATEGORIES.length)] ?? '',
    maker: capitalised(writer.latin.rareWord(random)),
    launchDate: createdAt.toISOString().slice(0, 10),
    team: Array.from({ length: random.below(4) }, () => ({
      name: `${capitalised(writer.latin.rareWord(random))} ${capitalised(writer.latin.rareWord(random))}`,
      avatar: '/pictures/avatar-default.svg',
      role: ROLES[random.below(ROLES.length)] ?? '',
    })),
    screenshots: Array.from({ length: random.below(4) }, (_, shot) => `/pictures/seed/${id}-${shot + 1}.webp`),
    createdAt: createdAt.toISOString(),
  };
  return completeProduct(product, createdAt);
}

function tagOf(rank: number): string {
  return HEAD_TAGS[rank] ?? `Topic ${rank}`;
}
