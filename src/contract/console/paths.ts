/** The screens of the console. The overview has no name in its address. */
export const CONSOLE_SCREENS = ['queue', 'products', 'comments', 'import', 'audit', 'backup'] as const;

export type ConsoleScreen = (typeof CONSOLE_SCREENS)[number] | 'overview';

/** The addresses of the operator's console. */
export const CONSOLE_PATHS = {
  home: '/console',
  screen: (screen: ConsoleScreen) => (screen === 'overview' ? '/console' : `/console/${screen}`),
  /** The token is in the fragment, which no server logs. */
  invitation: (token: string) => `/console#invitation=${token}`,
  assets: '/console/assets/',
  api: '/api/console',
} as const;

/** Whether an address belongs to the console. */
export function isConsolePath(path: string): boolean {
  return /^(?:\/api)?\/console(?:$|[/?])/.test(path);
}
