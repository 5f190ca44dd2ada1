import type { Comment } from '../../contract/comments/schema.ts';
import type { Product } from '../../contract/products/schema.ts';

export const PRODUCT_EXAMPLE: Product = {
  id: 'git',
  name: 'Git',
  description: 'A free and open source distributed version control system.',
  image: '/pictures/git/tile.svg',
  tags: ['Version control', 'Command line'],
  category: 'Developer tools',
  maker: 'Junio C Hamano',
  launchDate: 'April 7, 2005',
  team: [{ name: 'Junio C Hamano', avatar: '/pictures/avatars/junio-c-hamano.svg', role: 'Maintainer' }],
  screenshots: ['/pictures/git/shot-1.webp'],
  createdAt: '2026-11-19T09:00:00.000Z',
  upvotes: 9,
  comments: 3,
};

export const COMMENT_EXAMPLE: Comment = {
  id: '192aa475-74ec-42ec-8c4d-df86fc7c97de',
  productId: 'git',
  authorName: 'You',
  authorAvatar: '/pictures/avatar-default.svg',
  authorBadge: null,
  content: 'Worktrees!',
  likes: 0,
  createdAt: '2026-11-20T19:44:32.119Z',
};

export const SESSION_EXAMPLE = 'session-0f8fad5b-d9cb-469f-a165-70867728950e';

/** As `keyset.ts` writes them: opaque to everybody else. */
export const CURSOR_EXAMPLE = 'WyJuZXdlc3QiLCIyMDI2LTExLTE5VDA5OjAwOjAwLjAwMFoiLCJnaXQiXQ';
