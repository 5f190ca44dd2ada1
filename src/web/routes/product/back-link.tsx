import type { MouseEvent } from 'react';
import { useNavigate } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import { lastList } from '../../lib/list-return.ts';
import { ChevronLeftIcon } from '../../ui/icons.tsx';
import { Link } from '../../ui/link.tsx';

/** Leads home; to the list, the search and the very place that the visitor came from, if there was one. */
export function BackLink() {
  const navigate = useNavigate();

  function returnToList(event: MouseEvent): void {
    const list = lastList();
    if (!list || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    navigate(list.href, { state: { returnTo: list.key } });
  }

  return (
    <Link className="back-link" to={paths.home} onClick={returnToList}>
      <ChevronLeftIcon />
      Back to products
    </Link>
  );
}
