/** Every address that browser and server agree on; nothing else builds one by hand. */
export const paths = {
  home: '/',
  product: (id: string) => `/product/${encodeURIComponent(id)}`,
  productComments: (id: string) => `/product/${encodeURIComponent(id)}#comments`,
  /** The picture of a product, 1200×630, that a link to it shows elsewhere. */
  card: (id: string) => `/og/${encodeURIComponent(id)}.png`,
  /** The picture that a link to the site itself shows elsewhere. */
  siteCard: '/og.png',
  /** A small picture with the live count of upvotes, for other people's pages. */
  badge: (id: string, theme: 'light' | 'dark' = 'light') =>
    `/badge/${encodeURIComponent(id)}.svg${theme === 'dark' ? '?theme=dark' : ''}`,
  api: {
    products: '/api/products',
    product: (id: string) => `/api/products/${encodeURIComponent(id)}`,
    upvotes: '/api/upvotes',
    upvote: (productId: string) => `/api/products/${encodeURIComponent(productId)}/upvote`,
    productComments: (productId: string) => `/api/products/${encodeURIComponent(productId)}/comments`,
    heldComments: (productId: string) => `/api/products/${encodeURIComponent(productId)}/comments/held`,
    comments: '/api/comments',
    like: (commentId: string) => `/api/comments/${encodeURIComponent(commentId)}/like`,
  },
} as const;

/** The fragment of a product's address that scrolls to its discussion. */
export const COMMENTS_HASH = '#comments';
