import type { Comment } from '../../src/contract/comments/schema.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { PRODUCT_EXAMPLE } from '../../src/server/openapi/parts.ts';

/** Returns a product as the API sends it. Each test sets the values that matter to it. */
export function exampleProduct(given: Partial<Product> = {}): Product {
  return {
    ...PRODUCT_EXAMPLE,
    id: 'harbour',
    name: 'Harbour',
    description: 'Keeps small boats safe.',
    image: '/pictures/harbour/tile.svg',
    tags: ['boats', 'storms', 'ropes', 'lamps'],
    category: 'Shelter',
    maker: 'Harbour Works',
    launchDate: 'May 2024',
    team: [{ name: 'Ada Quay', avatar: '/pictures/avatars/ada.svg', role: 'Harbour master' }],
    screenshots: ['/pictures/harbour/1.webp', '/pictures/harbour/2.webp'],
    createdAt: '2026-01-01T00:00:00.000Z',
    upvotes: 7,
    comments: 2,
    ...given,
  };
}

export function exampleComment(given: Partial<Comment> = {}): Comment {
  return {
    id: '00000000-0000-4000-8000-000000000001',
    productId: 'harbour',
    authorName: 'You',
    authorAvatar: '/pictures/avatar-default.svg',
    authorBadge: null,
    content: 'Calm water.',
    likes: 0,
    createdAt: '2026-01-02T00:00:00.000Z',
    ...given,
  };
}
