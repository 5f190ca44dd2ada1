import ts from 'typescript';
import { expect, test } from 'vitest';
import { matchRoute } from '../../src/contract/routes.ts';
import { filesBelow, readText } from './source-files.ts';

/**
 * Every literal text of the specification, by section. A text with placeholders is split into its literal parts, and a
 * text with '(Demo)' into the control's name and that suffix.
 */
const TEXTS: Record<string, readonly string[]> = {
  '1, purpose': [
    'The place to discover and launch innovative tech products. Explore the wave.',
    'Top Products Launching Today',
    'Product Landscapes',
    '(Demo)',
    'Sign in',
    'Subscribe',
    'Launches',
    'Products',
    'Community',
    'Notifications',
    'Visit Website',
    'View more articles',
  ],
  '2, screens and routes': ['404', 'Oops! Page not found', 'Return to Home'],
  '2, home': [
    'Welcome to',
    'Search products...',
    'View Comments',
    'Loading products...',
    'Failed to load products',
    'Try again',
  ],
  '2, product detail': [
    'Back to products',
    'Previous',
    'Next',
    'Screenshots',
    'Meet the team',
    'Product Stats',
    'Launched',
    'Category',
    'Maker',
    '#comments',
    'Loading product...',
    'Product not found',
    'Return to home',
  ],
  '2, comments': [
    'Discussion (',
    'Best',
    'Newest',
    'Oldest',
    'What do you think about this product?',
    'Be constructive and specific in your feedback',
    'Post Comment',
    'Posting...',
    'Reply',
    'Like',
    'No comments yet. Be the first to share your thoughts!',
  ],
  '3, entities': [
    'Untitled Product',
    'No description available',
    'Uncategorized',
    'Unknown Maker',
    'Today',
    'Anonymous',
    'user_session',
    'session-',
    'server-session-',
    'fallback-session-',
  ],
  '4, states': ['Remove upvote', 'Upvote this product', 'best', 'newest', 'oldest'],
  '5, validation': ['Product ID and content are required', 'Comment ID is required'],
  '6, roles': ['You'],
  '8, upvote errors': [
    'Failed to check upvote status:',
    'Failed to remove upvote:',
    'Failed to add upvote:',
    'Error',
    'Failed to update upvote:',
    'Upvoted!',
    'Thanks for your support!',
    'Upvote removed',
    'Upvote removed successfully',
  ],
  '8, comment errors': [
    'Failed to add comment. Please try again.',
    'Comment added!',
    'Your comment has been posted successfully.',
    'Failed to fetch comment',
    'Comment not found',
    'Failed to update likes',
  ],
  '8, product errors': ['Failed to fetch products:'],
  '9, times': ['Just now', 'minute', 'hour', 'day', 'ago', 'Recently'],
};

const written = await writtenTexts();

for (const [section, texts] of Object.entries(TEXTS)) {
  test(`the texts of section ${section} are in the sources, letter for letter`, () => {
    expect(texts.filter((text) => !written.has(text))).toEqual([]);
  });
}

test('the screens have the paths of section 2: /, /product/{id}, and the 404 page for all others', () => {
  expect(matchRoute('/')).toEqual({ name: 'home' });
  expect(matchRoute('/product/git')).toEqual({ name: 'product', id: 'git' });
  expect(['/product', '/product/git/more', '/anything'].map((path) => matchRoute(path))).toEqual(
    Array(3).fill({ name: 'notFound' }),
  );
});

test('the check does not find an unspecified text', () => {
  expect(written.has('Welcome back, dear product')).toBe(false);
  expect(written.has('Try Again')).toBe(false);
});

/** Returns all strings, template parts and JSX texts in the sources of the browser, the contract and the comments. */
async function writtenTexts(): Promise<Set<string>> {
  const paths = (await filesBelow('src/web', 'src/contract', 'src/core/comments')).filter(
    (path) => /(?<!\.test)\.tsx?$/.test(path) && !path.startsWith('src/web/language/'),
  );
  const texts = new Set<string>();
  for (const path of paths) {
    const visit = (node: ts.Node): void => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isJsxText(node) || isTemplateRest(node)) {
        // The placeholders of a message are in braces.
        for (const part of node.text.split(/\{\w+\}/)) texts.add(part.replaceAll(/\s+/g, ' ').trim());
      }
      ts.forEachChild(node, visit);
    };
    const source = await readText(path);
    visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, false, scriptKindOf(path)));
  }
  return texts;
}

function isTemplateRest(node: ts.Node): node is ts.TemplateMiddle | ts.TemplateTail {
  return ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
}

function scriptKindOf(path: string): ts.ScriptKind {
  return path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
}
