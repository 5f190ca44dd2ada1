import { useEffect, useState } from 'react';
import { currentTheme, rememberTheme, type Theme } from '../lib/theme.ts';
import { MoonIcon, SunIcon } from './icons.tsx';

/** Day or night. Which one it is, the server cannot know: the icon follows by CSS, the pressed state after hydration. */
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
      aria-label="Dark theme"
      aria-pressed={theme === 'dark'}
      title={theme === 'dark' ? 'Switch to the light theme' : 'Switch to the dark theme'}
      onClick={toggle}
    >
      <MoonIcon />
      <SunIcon />
    </button>
  );
}
