// This script is inlined into the head of every document, so it runs before the first paint. It cannot import modules.
(() => {
  const { app = '', modules = '', voted: votedTitle = '' } = document.currentScript?.dataset ?? {};

  // The key is the same as in ui/theme.tsx. A test compares them.
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') {
      document.documentElement.dataset.theme = theme;
      // Makes the colour of the browser's user interface follow the page instead of the system.
      const wanted = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"][media*="${theme}"]`);
      const other = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"]:not([media*="${theme}"])`);
      if (wanted && other) other.content = wanted.content;
    }
  } catch {
    // Without storage, the theme follows the system.
  }

  // Shows this browser's votes from the first paint on. The key is the same as in features/upvotes/queries.ts.
  try {
    const voted = new Set<unknown>(JSON.parse(localStorage.getItem('upvoted') ?? '[]'));
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) {
        for (const node of addedNodes) {
          if (node instanceof HTMLButtonElement && voted.has(node.dataset.product)) showVote(node);
        }
      }
    });
    if (voted.size > 0) observer.observe(document, { childList: true, subtree: true });
    document.addEventListener('DOMContentLoaded', () => observer.disconnect());
  } catch {
    // Without storage, no votes are remembered.
  }

  // Buttons have no effect before hydration, so earlier clicks ('early clicks') are recorded, and the app replays them.
  // An 'early vote' is an upvote that this script sent for an early click.
  const clicks: EarlyClick[] = [];
  const record = ({ target }: Event) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null;
    if (!button) return;
    const early = clicks.find((click) => click.button === button && click.response);
    const response = early ? undefined : vote(button);
    clicks.push({ button, response });
    if (early) toggleAgain(early);
  };
  document.addEventListener('click', record, true);
  // After a reload, Back to an entry that the app had added changes only the URL. The app could not hydrate the HTML of
  // another URL, so until it runs, the browser loads the document of the new URL.
  const { pathname, search } = location;
  const showEntry = () => {
    if (location.pathname + location.search !== pathname + search) location.reload();
  };
  window.addEventListener('popstate', showEntry);
  window.takeEarlyClicks = () => {
    document.removeEventListener('click', record, true);
    window.removeEventListener('popstate', showEntry);
    return clicks;
  };

  function showVote(button: HTMLElement): void {
    button.dataset.voted = '';
    button.setAttribute('aria-pressed', 'true');
    button.title = votedTitle;
  }

  /**
   * Shows and sends an upvote immediately, so it is neither delayed nor lost if the visitor leaves. Returns the
   * response for the app, or `undefined` if only the app can handle the click. A test compares the storage keys, the
   * header, the URL and the session ids with those of the app.
   */
  function vote(button: HTMLElement): EarlyClick['response'] {
    try {
      const { product, voted } = button.dataset;
      const count = button.querySelector('.rolling-number-value');
      const text = count?.textContent ?? '';
      // Changes only the last three digits, because the thousands separators depend on the language.
      const [digits = '999'] = /\d{1,3}$/.exec(text) ?? [];
      const canHandle =
        product &&
        count &&
        voted === undefined &&
        digits !== '999' &&
        navigator.onLine &&
        !localStorage.getItem('outbox');
      // A row of a leaderboard also shows the counted votes, which only the app updates.
      if (!canHandle || button.closest('.board-row')) return;
      const session = localStorage.getItem('user_session') ?? `session-${crypto.randomUUID()}`;
      if (!/^session-[\da-z-]{1,80}$/i.test(session)) return;
      localStorage.setItem('user_session', session);
      // Marks a pending write for the next page, which then refetches. The value lets this page ignore its own mark.
      sessionStorage.write_pending ||= performance.timeOrigin;
      const response = send(product, session, 'PUT');
      showVote(button);
      count.textContent = text.slice(0, -digits.length) + String(+digits + 1).padStart(digits.length, '0');
      return response;
    } catch {
      return;
    }
  }

  function send(product: string, session: string, method: 'PUT' | 'DELETE'): Promise<Response> {
    const response = fetch(`/api/products/${encodeURIComponent(product)}/upvote`, {
      method,
      headers: { Accept: 'application/json', 'X-User-Session': session },
      keepalive: true,
      signal: AbortSignal.timeout(40_000),
    });
    // Remembers the vote in case the page is reloaded before the app runs. If the request fails, the app handles the
    // failure.
    response
      .then(({ ok }) => {
        const known: unknown[] = JSON.parse(localStorage.getItem('upvoted') ?? '[]');
        const others = known.filter((id) => id !== product);
        if (ok) localStorage.setItem('upvoted', JSON.stringify(method === 'PUT' ? [product, ...others] : others));
      })
      .catch(() => {});
    return response;
  }

  /**
   * Sends a further click on an early vote after the response to the previous click, in case the visitor leaves before
   * the app runs. `early.response` then resolves after both responses. The app waits for `early.response` before it
   * sends further requests for the replayed clicks.
   */
  function toggleAgain(early: EarlyClick): void {
    const { product = '' } = early.button.dataset;
    const session = localStorage.getItem('user_session') ?? '';
    const isUpvote = clicks.filter(({ button }) => button === early.button).length % 2 === 1;
    early.response = early.response?.then(async (first) => {
      if (first.ok) await send(product, session, isUpvote ? 'PUT' : 'DELETE').catch(() => {});
      return first;
    });
  }

  // The first paint needs no scripts. They are requested after it, so they do not compete with the styles, the font and
  // the pictures. A document without the app, such as the moderation log, needs no scripts at all.
  if (!app) return;
  const start = () => {
    for (const href of [app, ...modules.split(' ').filter(Boolean)]) {
      document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
    }
    const run = () => {
      // On an interrupted network, the app may fail to load. In that case, the next click tries again.
      const onerror = () => addEventListener('click', run, { once: true });
      document.head.append(Object.assign(document.createElement('script'), { type: 'module', src: app, onerror }));
    };
    // The app needs the whole document, which may still be loading.
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', run);
    else run();
  };
  // A hidden page is not painted until it becomes visible, so its scripts do not wait for the first paint.
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));
})();
