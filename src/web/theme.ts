// Loaded as a classic script that blocks the first paint, so that a remembered night never flashes white.
// It can import nothing: the key is the one of lib/theme.ts, which a test holds together with this file.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // The browser's own frame follows the page, not the system.
    const wanted = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"][media*="${theme}"]`);
    const other = document.querySelector<HTMLMetaElement>(`meta[name="theme-color"]:not([media*="${theme}"])`);
    if (wanted && other) other.content = wanted.content;
  }
} catch {
  // Without storage the page follows the system.
}
