import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { THEME_STORAGE_KEY } from '../web/ui/theme.tsx';
import { NowProvider } from '../web/ui/time.tsx';
import { allowTranslation } from '../web/ui/translated-text.ts';
import { createConsoleClient } from './api/console-api.ts';
import { App } from './app.tsx';
import './styles.css';

try {
  const theme = localStorage.getItem(THEME_STORAGE_KEY);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without local storage, the system's theme applies.
}

allowTranslation();
const root = document.getElementById('root');
if (!root) throw new Error('The document has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createConsoleClient()}>
      <NowProvider renderedAt={Date.now()}>
        <App />
      </NowProvider>
    </QueryClientProvider>
  </StrictMode>,
);
