import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useNavigate } from 'react-router';
import { paths } from '../../../contract/paths.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { useApi } from '../../lib/api-context.tsx';
import { isBusyElsewhere, useShortcuts } from '../../lib/keyboard.ts';
import { ChevronLeftIcon, ChevronRightIcon } from '../../ui/icons.tsx';
import { productDetailOptions } from './queries.ts';
import { useIdle } from './use-idle.ts';

type Neighbours = Pick<ProductDetail, 'previousId' | 'nextId'>;

/** Steps to the products beside this one in the list, by button or by arrow key. */
export function ProductNeighbours({ previousId, nextId }: Neighbours) {
  const navigate = useNavigate();
  const previousName = useNeighbourName(previousId);
  const nextName = useNeighbourName(nextId);
  const hasShortcuts = useShortcuts();

  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const id = event.key === 'ArrowLeft' ? previousId : event.key === 'ArrowRight' ? nextId : null;
      if (id === null || event.shiftKey || isBusyElsewhere(event)) return;
      event.preventDefault();
      navigate(paths.product(id));
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [navigate, previousId, nextId]);

  const go = (id: string | null) => () => id !== null && navigate(paths.product(id));
  return (
    <nav className="product-neighbours" aria-label="Products beside this one">
      <button
        type="button"
        className="button"
        data-tone="outline"
        disabled={previousId === null}
        title={previousName}
        aria-keyshortcuts={hasShortcuts ? 'ArrowLeft' : undefined}
        onClick={go(previousId)}
      >
        <ChevronLeftIcon />
        Previous
      </button>
      <button
        type="button"
        className="button"
        data-tone="outline"
        disabled={nextId === null}
        title={nextName}
        aria-keyshortcuts={hasShortcuts ? 'ArrowRight' : undefined}
        onClick={go(nextId)}
      >
        Next
        <ChevronRightIcon />
      </button>
    </nav>
  );
}

/** Fetched while nothing else happens, so that the step itself is instant. */
function useNeighbourName(id: string | null): string | undefined {
  const api = useApi();
  const idle = useIdle();
  const { data } = useQuery({ ...productDetailOptions(api, id ?? ''), enabled: idle && id !== null, meta: {} });
  return data?.product.name;
}
