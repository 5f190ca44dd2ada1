import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type FocusEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { MAX_ITEMS_PER_REQUEST } from '../../contract/console/records.ts';
import { formatCount } from '../../contract/text.ts';
import { showToast } from '../../web/ui/toasts.ts';
import { type Pages, wasRemovedHere } from '../api/pages.ts';
import { useClickGuard } from './click-guard.ts';
import { type Keys, useKeyGuard, useKeys } from './keys.ts';
import { adjustScrollOf, isOnScreen, useScrollPadding, useSteadyRow } from './list-scroll.ts';
import { ListStatus, type RowState, SelectionBar } from './selection.tsx';
import { Failure, Loading, RowsFailure } from './states.tsx';

/** Deselects items that were changed, and leaves the others selected. */
export type Deselect<Item> = (changed: readonly Item[]) => void;

interface ListProps<Item> {
  label: string;
  pages: Pages<Item>;
  keyOf: (item: Item) => string;
  /** If set, an item whose version changes is deselected, so operators decide only on versions that they have seen. */
  versionOf?: (item: Item) => number;
  renderRow: (item: Item, state: RowState, deselect: Deselect<Item>) => ReactNode;
  empty: ReactNode;
  /** The estimated height of a row, used until the row has been measured. */
  estimatePx: number;
  /** The handlers of keys, which act on the selected items or, if none is selected, on the active one. */
  keys?: Readonly<Record<string, (items: readonly Item[], deselect: Deselect<Item>) => void>>;
  /** Called with the active item on Enter, unless a link or button has the focus. */
  onOpen?: ((item: Item) => void) | undefined;
  /** The buttons for the selected items. Without them, no item can be selected. */
  renderBar?: (items: readonly Item[], deselect: Deselect<Item>) => ReactNode;
}

/** A row that follows its item when live updates add or remove rows above it. */
interface RowPosition {
  /** The key of the item, or undefined if it is not loaded. */
  key: string | undefined;
  /** The index of the row in the last render. If the item is gone, the row at this index takes its place. */
  index: number;
}

const FIRST: RowPosition = { key: undefined, index: 0 };

/**
 * A virtualized list: only the rows on or near the screen, which may have any height, are in the document. The keys J
 * and K activate the next and the previous row, X selects, Shift-X selects a range, and Enter opens.
 */
export function List<Item extends object>(props: ListProps<Item>) {
  const { label, pages, keyOf, versionOf, renderRow, empty, estimatePx, keys = {}, onOpen, renderBar } = props;
  const { id, count, pageCount, itemAt, state, hasMore, isComplete, isLoadingMore, show } = pages;
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  const [active, setActive] = useState(FIRST);
  const [selected, setSelected] = useState<ReadonlyMap<string, Item>>(new Map());
  const focusNext = useRef<RowPosition>(undefined);
  /** The element in a row or in the bar of selected items that had the focus last. */
  const lastFocused = useRef<Element>(null);
  const rangeStart = useRef(FIRST);
  const clickGuard = useClickGuard();
  const padding = useScrollPadding();
  /**
   * The last known heights of rows, including those of dropped pages. With estimates instead, dropping a page would
   * move the rows on screen, and the list might need the page again: it would be dropped and reloaded endlessly.
   */
  const heights = useRef<number[]>([]);

  // Any render may change the height of the content above the list. Setting an equal offset causes no further render.
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0));

  const rows = useWindowVirtualizer({
    count,
    estimateSize: (index) => (itemAt(index) === undefined && heights.current[index]) || estimatePx,
    overscan: 8,
    scrollMargin: offset,
    scrollPaddingStart: padding.start,
    scrollPaddingEnd: padding.end,
    getItemKey: (index) => {
      const item = itemAt(index);
      return item === undefined ? index : keyOf(item);
    },
  });
  rows.shouldAdjustScrollPositionOnItemSizeChange = adjustScrollOf(list);
  const visible = rows.getVirtualItems();
  const firstVisible = visible[0]?.index ?? 0;
  const lastVisible = visible.at(-1)?.index ?? 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: if there are more rows or pages, other pages may be needed
  useEffect(() => show(firstVisible, lastVisible), [show, firstVisible, lastVisible, count, pageCount]);

  const shownId = useRef(id);
  const release = useSteadyRow(list, clickGuard, shownId.current === id && !rows.isScrolling);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another list or filter resets the position
  useEffect(() => {
    if (shownId.current === id) return;
    shownId.current = id;
    release();
    setActive(FIRST);
    setSelected(new Map());
    rangeStart.current = FIRST;
    window.scrollTo(0, 0);
  }, [id]);

  const loaded = new Map(pages.loaded().map((each) => [keyOf(each.item), each]));
  // Includes rows that left the screen once measured, for example because the rows above are higher than estimated.
  for (const [key, { row }] of loaded) heights.current[row] = rows.itemSizeCache.get(key) ?? estimatePx;
  const rowOf = (position: RowPosition): number => {
    const row = loaded.get(position.key ?? '')?.row ?? position.index;
    return Math.min(row, Math.max(0, count - 1));
  };
  const positionOf = (index: number): RowPosition => {
    const item = itemAt(index);
    return { key: item && keyOf(item), index };
  };
  const at = rowOf(active);
  const current = itemAt(at);

  // If the active item is gone, the item in its place becomes the active one. If it has moved, its index is updated.
  useLayoutEffect(() => {
    if (current !== undefined && (keyOf(current) !== active.key || at !== active.index)) setActive(positionOf(at));
  });

  // A selected item that is not loaded may be on another page. It is known to be gone only if all rows are loaded.
  const known = new Map([...selected].filter(([key]) => loaded.has(key) || !isComplete));
  let outdated = 0;
  for (const [key, chosen] of known) {
    const latest = loaded.get(key)?.item ?? chosen;
    if (versionOf?.(latest) === versionOf?.(chosen)) known.set(key, latest);
    else if (known.delete(key)) outdated += 1;
  }
  useEffect(() => {
    if (outdated === 0) return;
    setSelected(known);
    showToast({ title: `Deselected ${formatCount(outdated)}`, description: 'Changed since being selected.' });
  });
  const present = [...known.values()];
  const subjects = present.length > 0 ? present : current === undefined ? [] : [current];
  const isKeyPaused = useKeyGuard(subjects, (item) => {
    const latest = loaded.get(keyOf(item))?.item;
    if (shownId.current !== id || known.has(keyOf(item)) || wasRemovedHere(item)) return false;
    return latest === undefined || versionOf?.(latest) !== versionOf?.(item);
  });

  function move(by: number): void {
    const next = Math.max(0, Math.min(count - 1, at + by));
    focusNext.current = positionOf(next);
    setActive(focusNext.current);
    rows.scrollToIndex(next, { align: 'auto' });
  }

  useEffect(() => {
    // This effect may belong to a render before the last move, whose row must not get the focus and become active again.
    const isNext = focusNext.current !== undefined && rowOf(focusNext.current) === at;
    // The focus is lost if the focused element, or the button that opened a dialog that closes, is removed.
    const isLost = lastFocused.current?.isConnected === false && document.activeElement === document.body;
    // Rows behind an open dialog cannot have the focus.
    if ((!isNext && !isLost) || document.querySelector('dialog[open]')) return;
    // A lost focus moves to the row itself, because on a button, a repeated Enter would press that button.
    const part = isNext ? ' [data-row-focus]' : '';
    const row = list.current?.querySelector<HTMLElement>(`[data-index="${at}"]${part}`);
    const target = row ?? (count === 0 ? document.getElementById('main') : null);
    if (!target) return;
    focusNext.current = undefined;
    lastFocused.current = null;
    target.focus({ preventScroll: true });
  });

  function select(index: number, isSelected: boolean, isRange = false): void {
    const next = new Map(known);
    // Walks from this row to the start of the range. Stops at a row that is not loaded, so the selection has no gap,
    // and at the maximum number of selected items.
    const start = rowOf(rangeStart.current);
    const step = start < index ? -1 : 1;
    const end = isRange ? start + step : index + step;
    for (let row = index; row !== end; row += step) {
      const item = itemAt(row);
      const isFull = isSelected && next.size >= MAX_ITEMS_PER_REQUEST && item !== undefined && !next.has(keyOf(item));
      if (item === undefined || isFull) {
        showToast({
          title: `${formatCount(next.size)} selected`,
          description: isFull
            ? `At most ${MAX_ITEMS_PER_REQUEST} can be changed at once.`
            : 'Rows far off screen were left out.',
        });
        break;
      }
      if (isSelected) next.set(keyOf(item), item);
      else next.delete(keyOf(item));
    }
    rangeStart.current = positionOf(index);
    setSelected(next);
  }

  function retry(): void {
    // The pressed button disappears, so the focus moves to the active row or, if it is not rendered, to the last one.
    const row = list.current?.querySelector<HTMLElement>(':scope > :is([data-active], :last-child)');
    (row ?? document.getElementById('main'))?.focus({ preventScroll: true });
    pages.retry();
  }

  const noteFocus = ({ target }: FocusEvent) => {
    lastFocused.current = target;
    focusNext.current = undefined;
  };
  const clear = () => setSelected(new Map());
  const deselect: Deselect<Item> = (changed) => {
    const keysOfChanged = new Set(changed.map(keyOf));
    setSelected((latest) => new Map([...latest].filter(([key]) => !keysOfChanged.has(key))));
  };
  const ownKeys: Keys = {
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    x:
      renderBar &&
      (({ shiftKey }) => current !== undefined && select(at, shiftKey || !known.has(keyOf(current)), shiftKey)),
    Escape: present.length > 0 ? clear : undefined,
    Enter: onOpen && current !== undefined ? () => onOpen(current) : undefined,
    ...Object.fromEntries(
      Object.entries(keys).map(([key, run]) => [
        key,
        () => {
          // If the active item is off screen, the first key press only scrolls to it.
          if (present.length === 0 && !isOnScreen(list.current?.querySelector('[data-active]'), padding)) move(0);
          else if (subjects.length > 0 && !isKeyPaused()) run(subjects, deselect);
        },
      ]),
    ),
  };
  useKeys(ownKeys);

  if (state === 'loading') return <Loading label={`Loading ${label.toLowerCase()}`} />;
  if (state === 'failed') return <Failure error={pages.error} onRetry={pages.retry} />;
  // Another filter deselects all items.
  const status = <ListStatus pages={pages} selected={shownId.current === id ? present.length : 0} />;
  if (count === 0 && !hasMore) {
    return (
      <>
        {status}
        {empty}
      </>
    );
  }
  const hasFailed = pages.error !== null;
  return (
    <>
      {status}
      <ul
        ref={list}
        className="list"
        aria-label={label}
        style={{ height: rows.getTotalSize() }}
        onClickCapture={clickGuard.onClick}
        onMouseLeave={release}
        onFocus={noteFocus}
      >
        {visible.map((row) => {
          const item = itemAt(row.index);
          return (
            <li
              key={row.key}
              // A placeholder is not measured, so its row keeps the height of its item.
              ref={item === undefined ? undefined : rows.measureElement}
              data-index={row.index}
              className="list-row"
              tabIndex={-1}
              data-active={row.index === at || undefined}
              data-selected={(item !== undefined && known.has(keyOf(item))) || undefined}
              aria-setsize={hasMore ? -1 : count}
              aria-posinset={row.index + 1}
              style={{ transform: `translateY(${row.start - offset}px)` }}
              onFocus={() => setActive(positionOf(row.index))}
            >
              {item === undefined ? (
                <span className="skeleton skeleton-row" data-stopped={hasFailed || undefined} />
              ) : (
                renderRow(
                  item,
                  {
                    isSelected: known.has(keyOf(item)),
                    select: (isSelected, isRange) => select(row.index, isSelected, isRange),
                  },
                  deselect,
                )
              )}
            </li>
          );
        })}
      </ul>
      {hasFailed && <RowsFailure error={pages.error} onRetry={retry} />}
      {isLoadingMore && count === 0 && <p className="quiet">Searching older {label.toLowerCase()} …</p>}
      {isLoadingMore && <Loading label={`Loading more ${label.toLowerCase()}`} rows={2} />}
      {present.length > 0 && renderBar && (
        <SelectionBar count={present.length} onClear={clear} onClickCapture={clickGuard.onClick} onFocus={noteFocus}>
          {renderBar(present, deselect)}
        </SelectionBar>
      )}
    </>
  );
}
