import { type Answer, type AnswerRequest, PAGE_FRESHNESS, type Reads } from './answer.ts';

/** A source of answers that counts how often it is asked, and may be held, or fail. */
export function createTestSource(key: string, { freshness = PAGE_FRESHNESS, reads = {} as Partial<Reads> } = {}) {
  const state = {
    made: 0,
    fails: undefined as Error | undefined,
    hold: undefined as Promise<void> | undefined,
    request: (notBefore?: number): AnswerRequest => ({
      key,
      freshness,
      notBefore,
      async produce(): Promise<Answer> {
        state.made += 1;
        const version = state.made;
        await state.hold;
        if (state.fails) throw state.fails;
        return {
          status: 200,
          type: 'text/plain',
          cacheControl: 'public',
          body: `${key} version ${version}`,
          reads: { products: [key], catalogue: false, allCounts: false, unfinished: false, ...reads },
        };
      },
    }),
  };
  return state;
}
