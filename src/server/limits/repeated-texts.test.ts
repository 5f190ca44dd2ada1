import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../core/runtime.ts';
import { createRepeatedTexts, fingerprintOf } from './repeated-texts.ts';

const SPAM = 'Buy cheap followers for your product today, visit https://spam.example/a1';

function watch() {
  const clock = { ms: 0 };
  const texts = createRepeatedTexts(() => clock.ms);
  const post = (text: string, session = 'session-a', address = '192.0.2.1') => texts(text, { session, address });
  const isHeld = (...parameters: Parameters<typeof post>) => post(...parameters).isRepeated;
  return { clock, post, isHeld };
}

describe('repeated texts', () => {
  test('a text from one session is suspicious the third time, even if it is short', () => {
    const { isHeld } = watch();
    expect([1, 2, 3, 4].map(() => isHeld('Great!'))).toEqual([false, false, true, true]);
    expect(isHeld('Something else')).toBe(false);
    expect(isHeld('Great!', 'session-b')).toBe(false);
  });

  test('a text from one network is suspicious the fifth time, unless it is short', () => {
    const { isHeld } = watch();
    const times = (text: string) => [1, 2, 3, 4, 5].map((number) => isHeld(text, `session-${number}`));
    expect(times('What a lovely little program')).toEqual([false, false, false, false, true]);
    expect(times('Great!')).toEqual([false, false, false, false, false]);
    expect(isHeld('What a lovely little program', 'session-9', '198.51.100.1')).toBe(false);
  });

  test('a long text from different sessions and networks is suspicious the tenth time', () => {
    const { isHeld } = watch();
    const held = Array.from({ length: 10 }, (_, number) => isHeld(SPAM, `session-${number}`, `10.0.${number}.1`));
    expect(held.indexOf(true)).toBe(9);
  });

  test('a text is forgotten after an hour', () => {
    const { clock, isHeld } = watch();
    for (const _ of [1, 2, 3]) isHeld('Great!');
    clock.ms += HOUR_MS;
    expect(isHeld('Great!')).toBe(false);
  });

  test('a text is still counted after the salt has changed', () => {
    const { clock, isHeld } = watch();
    const text = 'What a lovely little program';
    isHeld('anything', 'session-0');
    clock.ms = HOUR_MS - 1;
    for (const number of [1, 2, 3, 4]) isHeld(text, `session-${number}`);
    clock.ms = HOUR_MS;
    expect(isHeld(text, 'session-5')).toBe(true);
  });

  test('a text does not count if no comment was created', () => {
    const { post } = watch();
    for (const _ of [1, 2, 3, 4]) post('Great!').uncount();
    expect(post('Great!').isRepeated).toBe(false);
  });
});

describe('fingerprints', () => {
  test.each([
    'BUY cheap followers for your product today, visit https://spam.example/a1',
    'Buy cheap followers for your product today!!! visit http://www.spam.example/b2?ref=7#x',
    'Buy   cheap\nfollowers for your product today... visit https://spam.example',
    'Buy chéap föllowers for your product today, visit https://spam.example/a1',
    'Buuuy cheeeap followers for your product todaaay, visit https://spam.example/a1',
    'Buy 100 cheap followers for your product today, visit https://spam.example/a1 (4711)',
    'Ｂｕｙ ｃｈｅａｐ followers for your product today, visit https://spam.example/a1',
    'Buy ch\u200beap follo\u00adwers for your product today, visit https://spam.example/a1',
    'B̷u̷y̷ c̷h̷e̷a̷p̷ followers for your product today, visit https://spam.example/a1',
  ])('a near-identical text has the same fingerprint: %s', (text) => {
    expect(fingerprintOf(text)).toBe(fingerprintOf(SPAM));
  });

  test('different texts have different fingerprints', () => {
    const texts = ['I like it', 'I liked it', 'I do not like it', 'Ich mag es', '好きです', 'أحب هذا'];
    expect(new Set(texts.map(fingerprintOf)).size).toBe(texts.length);
  });

  test('only the beginning of a long text is compared', () => {
    expect(fingerprintOf('ab'.repeat(100_000))).toBe('ab'.repeat(5_500));
  });

  test('a row of a million combining marks is normalized in linear time', () => {
    expect(fingerprintOf(`a${'\u0301\u0323'.repeat(500_000)}b`)).toBe('ab');
  });

  test('a text without letters is compared unchanged', () => {
    const { isHeld } = watch();
    expect(['🌊', '🌊', '🌊🌊', '🌊'].map((text) => isHeld(text))).toEqual([false, false, false, true]);
  });
});
