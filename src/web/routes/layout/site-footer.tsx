import { paths } from '../../../contract/paths.ts';
import { ShortcutsButton } from '../../features/keyboard/shortcuts-button.tsx';
import { useSiteName } from '../../lib/document-head.ts';
import { Link } from '../../ui/link.tsx';

export function SiteFooter() {
  return (
    <footer className="site-footer">
      <p>
        <Link to={paths.home}>{useSiteName()}</Link> · Names and marks of products belong to their owners.
      </p>
      <ShortcutsButton />
    </footer>
  );
}
