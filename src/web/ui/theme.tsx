import { useEffect, useState } from 'react';
import { t } from '../language/translate.ts';
import { MoonIcon, SunIcon } from './icons.tsx';

type Theme = 'light' | 'dark';

/** The storage key of the selected theme. The head script reads it before the first paint. */
export const THEME_STORAGE_KEY = 'theme';

const darkSystem = () => window.matchMedia('(prefers-color-scheme: dark)');

function systemTheme(): Theme {
  return darkSystem().matches ? 'dark' : 'light';
}

/** Returns the theme on screen. */
function currentTheme(): Theme {
  return (document.documentElement.dataset.theme as Theme | undefined) ?? systemTheme();
}

/** The colours of the browser's user interface. They match those of the header in tokens.css. */
export const THEME_COLOURS: Record<Theme, string> = { light: '#ffffff', dark: '#0d2030' };

/** Sets the colour of the browser's user interface. With `null`, the colour follows the system, as the page does. */
function setThemeColour(theme: Theme | null): void {
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    meta.content = THEME_COLOURS[theme ?? (meta.media.includes('dark') ? 'dark' : 'light')];
  }
}

/**
 * Stores the selected theme. If it is the system's own theme, deletes the stored one instead, so the page follows the
 * system again.
 */
function rememberTheme(theme: Theme): void {
  const stored = theme === systemTheme() ? null : theme;
  const { dataset } = document.documentElement;
  if (stored) dataset.theme = stored;
  else delete dataset.theme;
  setThemeColour(stored);
  try {
    if (!stored) localStorage.removeItem(THEME_STORAGE_KEY);
    // A tab that adopts a theme must not store it again, because another tab may have stored a later selection.
    else if (stored !== localStorage.getItem(THEME_STORAGE_KEY)) localStorage.setItem(THEME_STORAGE_KEY, stored);
  } catch {
    // Without storage, the selection lasts as long as the page.
  }
}

/**
 * A button that switches between the light and the dark theme. The server does not know the theme, so CSS selects the
 * icon, and the pressed state is set after hydration and when the system's theme changes.
 */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>('light');
  useEffect(() => {
    const show = () => setTheme(currentTheme());
    const system = darkSystem();
    show();
    system.addEventListener('change', show);
    return () => system.removeEventListener('change', show);
  }, []);

  function toggle(): void {
    const next = currentTheme() === 'dark' ? 'light' : 'dark';
    rememberTheme(next);
    setTheme(next);
  }

  return (
    <button
      type="button"
      className="icon-button theme-switch"
      aria-label={t('Dark theme')}
      aria-pressed={theme === 'dark'}
      title={theme === 'dark' ? t('Switch to the light theme') : t('Switch to the dark theme')}
      onClick={toggle}
    >
      <MoonIcon />
      <SunIcon />
    </button>
  );
}
