import type { ReadApi } from '../../contract/api.ts';
import { REVALIDATE } from '../http/caching.ts';
import type { Answer } from './answer.ts';
import { recordReads } from './read-recorder.ts';

/** A JSON answer of the API: what `read` gives, which knows what it was made from. */
export async function jsonAnswer(api: ReadApi, read: (api: ReadApi) => Promise<unknown>): Promise<Answer> {
  const recorder = recordReads(api);
  const content = await read(recorder.api);
  return {
    status: 200,
    type: 'application/json; charset=utf-8',
    cacheControl: REVALIDATE,
    body: JSON.stringify(content),
    reads: recorder.reads(),
  };
}
