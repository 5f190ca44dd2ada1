import {
  type ChangeEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import { languageParam, t } from '../../language/translate.ts';
import { useRouter, useSearchParams } from '../../routing/router.tsx';
import { SearchIcon } from '../../ui/icons.tsx';
import { isComposing, useShortcut, useShortcuts } from '../../ui/shortcuts.ts';
import { type ProductFilters, readFilters } from './filters.ts';

const DEBOUNCE_MS = 200;

/** Searches while the visitor types. Without JavaScript, it is a form that requests the home page with `?q=`. */
export function SearchBox() {
  const { text, setText, onChange, search, tag, sort } = useSearch();
  const input = useRef<HTMLInputElement>(null);
  useShortcut('/', (event) => {
    event.preventDefault();
    input.current?.focus();
    input.current?.select();
  });
  const hasShortcut = useShortcuts();

  function submit(event: FormEvent): void {
    event.preventDefault();
    search(text);
    // Closes the on-screen keyboard, which covers the results.
    if (matchMedia('(hover: none)').matches) input.current?.blur();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // During text composition, Escape only cancels the composition.
    if (event.key !== 'Escape' || isComposing(event)) return;
    // Prevents the browser's own handling, because some browsers clear a search field without notifying React.
    event.preventDefault();
    if (text === '') input.current?.blur();
    setText('');
    search('');
  }

  return (
    <search className="search-box">
      <form action={paths.home} method="get" onSubmit={submit}>
        <SearchIcon />
        <input
          // Adopts text that the visitor typed before hydration.
          ref={(node) => {
            input.current = node;
            if (node) setText(node.value);
          }}
          type="search"
          dir="auto"
          name="q"
          value={text}
          maxLength={LIMITS.searchCharacters}
          placeholder={t('Search products...')}
          aria-label={t('Search products')}
          aria-keyshortcuts={hasShortcut ? '/' : undefined}
          autoComplete="off"
          enterKeyHint="search"
          onChange={onChange}
          onKeyDown={onKeyDown}
        />
        {hasShortcut && (
          <span className="search-box-key" aria-hidden="true">
            /
          </span>
        )}
        {Object.entries({ tag, sort, lang: languageParam() }).map(
          ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
        )}
        <button type="submit" className="visually-hidden">
          {t('Search')}
        </button>
      </form>
    </search>
  );
}

/** The state of the history entries that the box adds. */
const SEARCHED = 'q';

/** Manages the text in the box, and searches for it after a pause in typing. Also returns the filters in the URL. */
function useSearch() {
  const { location, type, navigate } = useRouter();
  const { pathname } = location;
  const params = useSearchParams();
  const filters: ProductFilters = pathname === paths.home && !params.has('board') ? readFilters(params) : {};
  const { q: term = '', tag, sort } = filters;
  const [text, setText] = useState(term);
  // The box's own searches do not replace the text, because the visitor may have continued typing.
  const isOwn = type === 'LOAD' || (type !== 'POP' && location.state === SEARCHED);
  /** Whether the visitor entered the text while the next page, which must not replace it, was loading. */
  const isForNextPage = useRef(false);

  /** Returns whether the visitor is navigating to another page, whose code is still loading. */
  const isLeaving = () => window.location.pathname !== pathname;

  function onChange({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    isForNextPage.current = isLeaving();
    setText(currentTarget.value);
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only another page or term replaces the text
  useLayoutEffect(() => {
    if (!isOwn && !isForNextPage.current) setText(term);
    isForNextPage.current = false;
  }, [pathname, term]);

  function search(newText: string): void {
    const q = newText.trim();
    if (q === term) return;
    // The first search adds a history entry, so Back returns to the list before it. Refining the search replaces the
    // entry, even if the list is still loading.
    const replace = window.location.search.includes('q=');
    navigate(paths.list({ q, tag, sort }), { replace, state: SEARCHED });
  }

  const searchLater = useEffectEvent(() => isLeaving() || search(text));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the next page starts the search that this page could not
  useEffect(() => {
    if (text === term) return;
    const timer = setTimeout(searchLater, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, term, pathname]);

  return { text, setText, onChange, search, tag, sort };
}
