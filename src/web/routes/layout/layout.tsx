import type { ReactNode } from 'react';
import { paths } from '../../../contract/paths.ts';
import { ShortcutsButton } from '../../features/keyboard/shortcuts-button.tsx';
import { t } from '../../language/translate.ts';
import { useSiteName } from '../../routing/document-head.ts';
import { Link } from '../../ui/link.tsx';
import { Toaster } from '../../ui/toaster.tsx';
import { DeferredSlot } from './deferred-slot.tsx';
import { SiteHeader } from './site-header.tsx';

export function Layout({ children }: { children: ReactNode }) {
  return (
    <>
      <a className="skip-link" href="#main">
        {t('Skip to content')}
      </a>
      <SiteHeader />
      <main id="main" className="page" tabIndex={-1}>
        {children}
      </main>
      <SiteFooter />
      <Toaster />
      <DeferredSlot />
    </>
  );
}

function SiteFooter() {
  return (
    <footer className="site-footer">
      <p>
        <Link to={paths.home}>{useSiteName()}</Link> · {t('Names and marks of products belong to their owners.')}
      </p>
      <ShortcutsButton />
    </footer>
  );
}
