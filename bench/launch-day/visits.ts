import { type Random, randomFrom } from '../seed/random.ts';

/** The run is twelve times as fast as the day: visitors arrive, read and leave in a twelfth of the time. */
export const TIMES_FASTER = 12;

/** A part of the run, in which visitors arrive at an even rate. */
export interface Phase {
  name: string;
  perSecond: number;
  seconds: number;
}

export interface Catalogue {
  /** The products of the launch day, the most popular first; `older` are the other products. */
  launches: readonly string[];
  older: readonly string[];
  /** Words of the products, the most frequent first, which visitors search for and write. */
  words: readonly string[];
}

export type Action = 'home page' | 'product page' | 'search' | 'own upvotes' | 'stream' | 'upvote' | 'comment';

export interface Step {
  /** The time since the start of the run. */
  dueMs: number;
  /** The number of the visitor. */
  visitor: number;
  /** The name of the phase in which the visitor arrived. */
  phase: string;
  action: Action | 'leave';
  productId: string;
  /** A term to search for, or a comment. */
  text: string;
}

/** What visitors do after the first page, as shares of their further steps. The rest opens the home page again. */
const SHARES = { 'product page': 0.45, search: 0.2, upvote: 0.25, comment: 0.06 } as const;
const LANDS_ON_HOME = 0.7;
/** Visitors mostly look at launches of the day. */
const LAUNCH_SHARE = 0.8;
const MORE_STEPS = 0.8;
const MAX_STEPS = 12;
/** The mean time between two steps, in the visitor's own time. */
const MEAN_PAUSE_MS = 18_000;
/** The time from a page to the requests of its scripts, for which no visitor waits. */
const SCRIPT_MS = 300;
/** The burst takes 10 % of the time, with this many times the visitors. */
const BURST = { times: 10, from: 0.4, share: 0.1 } as const;
const COMMENT_WORDS = 12;

/** A launch day: an even rate with one burst. */
export function launchDay(perSecond: number, seconds: number): Phase[] {
  const after = 1 - BURST.from - BURST.share;
  return [
    { name: 'before', perSecond, seconds: BURST.from * seconds },
    { name: 'burst', perSecond: BURST.times * perSecond, seconds: BURST.share * seconds },
    { name: 'after', perSecond, seconds: after * seconds },
  ];
}

/**
 * Plans what all visitors do until the last phase ends, in order of time. Visitors arrive independently of each other (a
 * Poisson process).
 */
export function planVisits(phases: readonly Phase[], catalogue: Catalogue, seed: number): Step[] {
  const random = randomFrom(seed);
  const steps: Step[] = [];
  const visit = visitPlanner(catalogue, random);
  let begin = 0;
  let visitor = 0;
  for (const { name, perSecond, seconds } of phases) {
    const end = begin + seconds * 1_000;
    for (let at = begin + exponential(random, 1_000 / perSecond); at < end; ) {
      steps.push(...visit({ visitor, phase: name, dueMs: at }));
      visitor += 1;
      at += exponential(random, 1_000 / perSecond);
    }
    begin = end;
  }
  return steps.filter(({ dueMs }) => dueMs < begin).sort((one, other) => one.dueMs - other.dueMs);
}

function visitPlanner({ launches, older, words }: Catalogue, random: Random) {
  const anyOf = (list: readonly string[]) => list[random.below(list.length)] ?? '';
  // The square prefers the beginning of the list.
  const pick = (list: readonly string[]) => list[Math.floor(list.length * random.next() ** 2)] ?? '';
  const anyProduct = () => (random.chance(LAUNCH_SHARE) ? pick(launches) : anyOf(older));

  return (arrival: Pick<Step, 'visitor' | 'phase' | 'dueMs'>): Step[] => {
    let { dueMs } = arrival;
    let productId = random.chance(LANDS_ON_HOME) ? '' : anyProduct();
    const step = (action: Step['action'], more: Partial<Step> = {}): Step => {
      return { ...arrival, dueMs, action, productId, text: '', ...more };
    };
    const afterScripts = arrival.dueMs + SCRIPT_MS;
    const steps = [
      step(productId === '' ? 'home page' : 'product page'),
      step('own upvotes', { dueMs: afterScripts }),
      step('stream', { dueMs: afterScripts }),
    ];
    for (let count = 1; count <= MAX_STEPS && random.chance(MORE_STEPS); count += 1) {
      dueMs += SCRIPT_MS + exponential(random, MEAN_PAUSE_MS / TIMES_FASTER);
      const action = chooseAction(random);
      // Votes and comments are for the product that the visitor looks at.
      if (action === 'product page' || productId === '') productId = anyProduct();
      steps.push(step(action, { text: textFor(action) }));
    }
    dueMs += SCRIPT_MS + exponential(random, MEAN_PAUSE_MS / TIMES_FASTER);
    return [...steps, step('leave')];
  };

  function textFor(action: Action): string {
    if (action === 'search') return pick(words);
    // No two comments are alike, or the site would hold them for review.
    if (action === 'comment') return Array.from({ length: COMMENT_WORDS }, () => anyOf(words)).join(' ');
    return '';
  }
}

function chooseAction(random: Random): Action {
  let left = random.next();
  for (const [action, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return action as Action;
  }
  return 'home page';
}

function exponential(random: Random, mean: number): number {
  return -Math.log(1 - random.next()) * mean;
}
