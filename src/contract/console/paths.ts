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

/** Returns whether a path belongs to the console or to its API. */
export function isConsolePath(path: string): boolean {
  return /^(?:\/api)?\/console(?:$|[/?])/.test(path);
}
