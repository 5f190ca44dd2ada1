import { Link } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { SearchBox } from '../../features/products/search-box.tsx';
import { useSiteName } from '../../lib/document-head.ts';
import { DemoButton } from '../../ui/demo-button.tsx';
import { BellIcon, MenuIcon, WaveMark } from '../../ui/icons.tsx';
import { ThemeSwitch } from '../../ui/theme-switch.tsx';

const TAGLINE = 'The place to discover and launch innovative tech products. Explore the wave.';

export function SiteHeader() {
  const siteName = useSiteName();
  return (
    <header className="site-header">
      <div className="site-header-bar">
        <Link className="brand" to={paths.home} aria-label={`${siteName}, home`}>
          <WaveMark />
          <span className="brand-name">{siteName}</span>
        </Link>
        <SearchBox />
        <div className="demo-row">
          <AccountDemos />
        </div>
        <ThemeSwitch />
        <details className="demo-fold">
          <summary className="icon-button" aria-label="Menu">
            <MenuIcon />
          </summary>
          <div className="demo-fold-panel">
            <SiteDemos />
            <AccountDemos />
          </div>
        </details>
      </div>
      <div className="site-header-deck">
        <p className="tagline">{TAGLINE}</p>
        <div className="demo-row">
          <SiteDemos />
        </div>
      </div>
    </header>
  );
}

// What the site does not have yet. A wide screen has room to show it; on a narrow one it folds away.

function SiteDemos() {
  return (
    <>
      <DemoButton label="Launches" />
      <DemoButton label="Products" />
      <DemoButton label="Community" />
    </>
  );
}

function AccountDemos() {
  return (
    <>
      <DemoButton label="Notifications" icon={<BellIcon />} />
      <DemoButton label="Subscribe" />
      <DemoButton label="Sign in" />
    </>
  );
}
