import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { MakerLaunch } from './maker-launch.tsx';

test('if no vote counted in a launch window that has ended, the chart says so', () => {
  const hour = (index: number) => new Date(Date.UTC(2026, 10, 21, index)).toISOString();
  const votesByHour = Array.from({ length: 24 }, (_, index) => ({ from: hour(index), votes: 0 }));
  const submission = { standing: null, votesByHour, product: exampleProduct() } as Partial<Submission> as Submission;
  const html = renderToStaticMarkup(createElement(MakerLaunch, { submission }));
  expect(html).toContain('Votes by hour <span>No counted votes</span>');
});
