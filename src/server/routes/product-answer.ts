import type { ReadApi } from '../../contract/api.ts';
import { paths } from '../../contract/paths.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import type { AnswerRequest } from '../cache/answer.ts';
import { jsonAnswer } from '../cache/json-answer.ts';

/** The API's answer about a product: under one key, however new each caller wants it. */
export function productAnswer(api: ReadApi, id: string): Pick<AnswerRequest, 'key' | 'produce'> {
  return {
    key: paths.api.product(id),
    produce: () =>
      jsonAnswer(api, async (recorded) => (await recorded.getProduct(id)) ?? Promise.reject(productNotFound())),
  };
}
