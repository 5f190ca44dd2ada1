import { withId } from '../paths/api.ts';

/** The screens of the console, except the overview, which has no name in its URL. */
export const CONSOLE_SCREENS = ['queue', 'products', 'comments', 'import', 'audit', 'backup'] as const;

export type ConsoleScreen = (typeof CONSOLE_SCREENS)[number] | 'overview';

/** The URL paths of the operators' console. */
export const CONSOLE_PATHS = {
  home: '/console',
  screen: (screen: ConsoleScreen) => (screen === 'overview' ? '/console' : `/console/${screen}`),
  /** The token is in the fragment, which browsers do not send, so no server logs it. */
  invitation: (token: string) => `/console#invitation=${token}`,
  assets: '/console/assets/',
  api: '/api/console',
} as const;

/** The header of requests that a page sends without operator input. Such requests do not extend the session. */
export const UNATTENDED_HEADER = 'x-unattended';

/**
 * The header in which a write names the operator that the page shows as signed in. All windows of a browser share one
 * session. If another operator has signed in since the page loaded, the server rejects the page's writes.
 */
export const OPERATOR_HEADER = 'x-operator';

/** The URLs of the console's API, for both the server and the browser app. */
export const CONSOLE_API = {
  session: '/api/console/session',
  signIn: '/api/console/sign-in',
  signOut: '/api/console/sign-out',
  signOutEverywhere: '/api/console/sign-out-everywhere',
  invitation: '/api/console/invitation',
  acceptInvitation: '/api/console/invitation/accept',
  events: '/api/console/events',
  overview: '/api/console/overview',
  waiting: '/api/console/waiting',
  doctor: '/api/console/doctor',
  products: '/api/console/products',
  product: /* @__PURE__ */ withId('/api/console/products/:id'),
  removeProducts: '/api/console/products/remove',
  restoreProducts: '/api/console/products/restore',
  removedProducts: '/api/console/removed-products',
  categories: '/api/console/categories',
  votes: /* @__PURE__ */ withId('/api/console/products/:id/votes'),
  bursts: '/api/console/bursts',
  pictures: /* @__PURE__ */ withId('/api/console/pictures/:use'),
  comments: '/api/console/comments',
  moderateComments: '/api/console/comments/moderate',
  submissions: '/api/console/submissions',
  decideSubmission: /* @__PURE__ */ withId('/api/console/submissions/:id/decide'),
  audit: '/api/console/audit',
  undo: /* @__PURE__ */ withId('/api/console/audit/:id/undo'),
  import: '/api/console/import',
  export: '/api/console/export',
  backup: '/api/console/backup',
} as const;
