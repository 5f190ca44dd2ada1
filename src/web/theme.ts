import { applyRememberedTheme } from './lib/theme.ts';

// Loaded before the first paint, so that a remembered night never flashes white.
applyRememberedTheme();
