import fc from 'fast-check';
import { expect, test } from 'vitest';

test('a property is tested with the same inputs again', () => {
  const inputs = () => {
    const seen: string[] = [];
    fc.assert(fc.property(fc.string(), (text) => void seen.push(text)));
    return seen;
  };
  expect(inputs()).toEqual(inputs());
});
