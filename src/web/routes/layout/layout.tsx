import type { ReactNode } from 'react';
import { Toaster } from '../../ui/toaster.tsx';
import { LateSlot } from './late-slot.tsx';
import { SiteFooter } from './site-footer.tsx';
import { SiteHeader } from './site-header.tsx';

export function Layout({ children }: { children: ReactNode }) {
  return (
    <>
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <SiteHeader />
      <main id="main" className="page" tabIndex={-1}>
        {children}
      </main>
      <SiteFooter />
      <Toaster />
      <LateSlot />
    </>
  );
}
