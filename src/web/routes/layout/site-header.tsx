import type { SyntheticEvent } from 'react';
import * as paths from '../../../contract/paths.ts';
import { taglineOf } from '../../../contract/site.ts';
import { SearchBox } from '../../features/products/search-box.tsx';
import { SavedProductsButton } from '../../features/saved/saved-products-button.tsx';
import { t, translated } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { lazyPart, PartView } from '../../routing/lazy-screen.tsx';
import { DemoButton } from '../../ui/demo-button.tsx';
import { BellIcon, MenuIcon, SiteMark } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';
import { ThemeSwitch } from '../../ui/theme.tsx';

export function SiteHeader() {
  const site = useSite();
  return (
    <header className="site-header">
      <div className="site-header-bar">
        <Link className="brand" to={paths.home} aria-label={t('{site}, home', { site: site.name })}>
          <SiteMark logo={site.logo} />
          <span>{site.name}</span>
        </Link>
        <SearchBox />
        <SavedProductsButton />
        <ThemeSwitch />
        <details className="demo-fold" onBlur={close} onKeyDown={(event) => event.key === 'Escape' && close(event)}>
          <summary className="icon-button" aria-label={t('Menu')}>
            <MenuIcon />
          </summary>
          <div className="demo-fold-panel">
            <DemoButtons />
          </div>
        </details>
      </div>
      <div className="site-header-deck">
        <p className="tagline" dir={site.tagline && 'auto'}>
          {translated(taglineOf(site))}
        </p>
        <div className="demo-row">
          <DemoButtons />
        </div>
        {site.hasSubmissions && <PartView part={SUBMIT_LINK} />}
      </div>
    </header>
  );
}

/**
 * Closes the menu when the focus leaves it. Its buttons are disabled, so the focus always moves to an element outside,
 * which the open menu may cover.
 */
function close({ currentTarget }: SyntheticEvent<HTMLDetailsElement>): void {
  currentTarget.open = false;
}

/** Placeholders for future features, shown on wide screens and collapsed on narrow ones. */
function DemoButtons() {
  return (
    <>
      <DemoButton label="Launches" />
      <DemoButton label="Products" />
      <DemoButton label="Community" />
      <DemoButton label="Notifications" icon={<BellIcon />} />
      <DemoButton label="Subscribe" />
      <DemoButton label="Sign in" />
    </>
  );
}

/** The link for submitting a product. Its code is not part of the initial bundle. */
export const SUBMIT_LINK = lazyPart(() => import('../submissions/submit-link.tsx').then((module) => module.SubmitLink));
