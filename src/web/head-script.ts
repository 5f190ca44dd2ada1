// Inlined into the head of every document, so it runs before the first paint. It cannot import modules.
(() => {
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

  // Clicks on buttons have no effect before hydration. They are recorded, and the app repeats them.
  const clicks: HTMLElement[] = [];
  const record = ({ target }: Event) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null;
    if (button) clicks.push(button);
  };
  document.addEventListener('click', record, true);
  window.takeEarlyClicks = () => {
    document.removeEventListener('click', record, true);
    return clicks.splice(0);
  };

  // The first paint needs no script. All scripts are requested after it, so they do not compete with styles, font and pictures.
  const { app = '', modules = '' } = document.currentScript?.dataset ?? {};
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
