/** The grounds that a badge is made for. */
export type BadgeTheme = 'light' | 'dark';

/** The fragment of a product's address that scrolls to its discussion. */
export const COMMENTS_HASH = '#comments';

/** Every address that browser and server agree on; nothing else builds one by hand. */
export const paths = {
  home: '/',
  product: (id: string) => `/product/${encodeURIComponent(id)}`,
  productComments: (id: string) => `/product/${encodeURIComponent(id)}${COMMENTS_HASH}`,
  /** The picture of a product, 1200×630, that a link to it shows elsewhere. */
  card: (id: string) => `/og/${encodeURIComponent(id)}.png`,
  /** The picture that a link to the site itself shows elsewhere. */
  siteCard: '/og.png',
  /** A small picture with the live count of upvotes, for other people's pages. */
  badge: (id: string, theme: BadgeTheme = 'light') =>
    `/badge/${encodeURIComponent(id)}.svg${theme === 'dark' ? '?theme=dark' : ''}`,
  /** Atom and JSON Feed of the newest launches, and Atom of what is said about a product. */
  feed: '/feed.xml',
  jsonFeed: '/feed.json',
  commentsFeed: (id: string) => `/product/${encodeURIComponent(id)}/comments.xml`,
  sitemap: '/sitemap.xml',
  /** How to show the page at an absolute address inside another page. */
  oembed: (url: string) => `/oembed?url=${encodeURIComponent(url)}&format=json`,
  manifest: '/manifest.webmanifest',
  serviceWorker: '/service-worker.js',
  /** The site without a page in it, from which a browser that is offline starts. */
  offlineShell: '/offline-shell',
  api: {
    products: '/api/products',
    product: (id: string) => `/api/products/${encodeURIComponent(id)}`,
    upvotes: '/api/upvotes',
    upvote: (productId: string) => `/api/products/${encodeURIComponent(productId)}/upvote`,
    productComments: (productId: string) => `/api/products/${encodeURIComponent(productId)}/comments`,
    heldComments: (productId: string) => `/api/products/${encodeURIComponent(productId)}/comments/held`,
    comments: '/api/comments',
    events: '/api/events',
    /** The description of the API for programs, and for people. */
    description: '/api/openapi.json',
    reference: '/api/docs',
    like: (commentId: string) => `/api/comments/${encodeURIComponent(commentId)}/like`,
  },
} as const;
