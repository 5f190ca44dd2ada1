import { useEffect, useState } from 'react';
import { t } from '../language/translate.ts';
import { MoonIcon, SunIcon } from './icons.tsx';
import { currentTheme, rememberTheme, type Theme } from './theme.ts';

/** Day or night. The server does not know which one it is: CSS sets the icon, and hydration the pressed state. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>('light');
  useEffect(() => setTheme(currentTheme()), []);

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
