import { Link } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { useSiteName } from '../../lib/document-head.ts';

export function SiteFooter() {
  return (
    <footer className="site-footer">
      <p>
        <Link to={paths.home}>{useSiteName()}</Link> · Names and marks of products belong to their owners.
      </p>
    </footer>
  );
}
