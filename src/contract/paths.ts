/** Every address that browser and server agree on; nothing else builds one by hand. */
export const paths = {
  home: '/',
  product: (id: string) => `/product/${encodeURIComponent(id)}`,
  productComments: (id: string) => `/product/${encodeURIComponent(id)}#comments`,
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
