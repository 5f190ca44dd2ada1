import { Link } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { SearchBox } from '../../features/products/search-box.tsx';
import { useSiteName } from '../../lib/document-title.ts';
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
        <ThemeSwitch />
      </div>
      <div className="site-header-deck">
        <p className="tagline">{TAGLINE}</p>
        <DemoMenu />
      </div>
    </header>
  );
}

/** What the site does not have yet. On a phone it folds away; a wide screen has room to show it. */
function DemoMenu() {
  return (
    <>
      <div className="demo-row">
        <DemoControls />
      </div>
      <details className="demo-fold">
        <summary className="icon-button" aria-label="Menu">
          <MenuIcon />
        </summary>
        <div className="demo-fold-panel">
          <DemoControls />
        </div>
      </details>
    </>
  );
}

function DemoControls() {
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
