// Inlined into the head of every document, so it runs before the first paint. It cannot import modules.
(() => {
  const { app = '', modules = '', voted: votedTitle = '' } = document.currentScript?.dataset ?? {};

  // The key is the one of ui/theme.tsx, which a test compares with this file.
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') {
      document.documentElement.dataset.theme = theme;
      // The colour of the browser's own frame follows the page, not the system.
      const wanted = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"][media*="${theme}"]`);
      const other = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"]:not([media*="${theme}"])`);
      if (wanted && other) other.content = wanted.content;
    }
  } catch {
    // Without storage the page follows the system.
  }

  // Votes of this browser show from the first paint on. The key is the one of features/upvotes/queries.ts.
  try {
    const voted = new Set<unknown>(JSON.parse(localStorage.getItem('upvoted') ?? '[]'));
    const observer = new MutationObserver((records) => {
      for (const { addedNodes } of records) {
        for (const node of addedNodes) {
          if (node instanceof HTMLElement && voted.has(node.dataset.product)) node.dataset.voted = '';
        }
      }
    });
    if (voted.size > 0) observer.observe(document, { childList: true, subtree: true });
    document.addEventListener('DOMContentLoaded', () => observer.disconnect());
  } catch {
    // Without storage nothing is remembered.
  }

  // Buttons have no effect before hydration. Clicks are recorded, and the app repeats them.
  const clicks: EarlyClick[] = [];
  const record = ({ target }: Event) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null;
    if (button) clicks.push({ button, response: vote(button) });
  };
  document.addEventListener('click', record, true);
  window.takeEarlyClicks = () => {
    document.removeEventListener('click', record, true);
    return clicks;
  };

  /**
   * Shows and sends an upvote at once, so it is neither late nor lost if the visitor leaves. The app waits for the response.
   * Returns `undefined` in unusual situations, which are left to the app. A test compares names and formats with the app's.
   */
  function vote(button: HTMLElement): EarlyClick['response'] {
    try {
      const { product, voted } = button.dataset;
      const count = button.querySelector('.rolling-number-value');
      const text = count?.textContent ?? '';
      // The last digits: the separator before them depends on the language.
      const [digits = '999'] = /\d{1,3}$/.exec(text) ?? [];
      const isUsual =
        product &&
        count &&
        voted === undefined &&
        digits !== '999' &&
        navigator.onLine &&
        !localStorage.getItem('outbox');
      // A leaderboard shows the number elsewhere, too.
      if (!isUsual || button.closest('.board-row')) return;
      const session = localStorage.getItem('user_session') ?? `session-${crypto.randomUUID()}`;
      if (!/^session-[\da-z-]{1,80}$/i.test(session)) return;
      localStorage.setItem('user_session', session);
      // Marks a pending write for the next page, which then refetches. The value lets this page ignore its own mark.
      sessionStorage.write_pending ||= performance.timeOrigin;
      const response = fetch(`/api/products/${encodeURIComponent(product)}/upvote`, {
        method: 'PUT',
        headers: { Accept: 'application/json', 'X-User-Session': session },
        keepalive: true,
        signal: AbortSignal.timeout(40_000),
      });
      // Remembers the vote in case the page is reloaded before the app runs. The app handles a failure.
      response
        .then(({ ok }) => {
          const known = JSON.parse(localStorage.getItem('upvoted') ?? '[]');
          if (ok) localStorage.setItem('upvoted', JSON.stringify([product, ...known]));
        })
        .catch(() => {});
      button.dataset.voted = '';
      button.setAttribute('aria-pressed', 'true');
      button.title = votedTitle;
      count.textContent = text.slice(0, -digits.length) + String(+digits + 1).padStart(digits.length, '0');
      return response;
    } catch {
      return;
    }
  }

  // The first paint needs no script. All scripts are requested after it, so they do not compete with styles, font and pictures.
  // A document without an app, such as the moderation log, is complete as it is.
  if (!app) return;
  const start = () => {
    for (const href of [app, ...modules.split(' ').filter(Boolean)]) {
      document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
    }
    const run = () =>
      document.head.append(Object.assign(document.createElement('script'), { type: 'module', src: app }));
    // The app needs the whole document, which may still be loading.
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', run);
    else run();
  };
  // A hidden page does not paint until it becomes visible.
  if (document.hidden) start();
  else requestAnimationFrame(() => setTimeout(start));
})();
