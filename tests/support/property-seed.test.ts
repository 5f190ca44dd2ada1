import fc from 'fast-check';
import { expect, test } from 'vitest';

test('repeated runs of a property use the same inputs', () => {
  const inputs = () => {
    const seen: string[] = [];
    fc.assert(fc.property(fc.string(), (text) => void seen.push(text)));
    return seen;
  };
  expect(inputs()).toEqual(inputs());
});
