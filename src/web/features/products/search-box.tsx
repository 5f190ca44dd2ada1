import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import { languageParam, t } from '../../language/translate.ts';
import { useRouter, useSearchParams } from '../../routing/router.tsx';
import { SearchIcon } from '../../ui/icons.tsx';
import { isShortcutBlocked, useShortcuts } from '../../ui/shortcuts.ts';
import { readFilters } from './filters.ts';

const DEBOUNCE_MS = 200;

/** Searches while the visitor types. Without JavaScript, it is a form that requests the home page with `?q=`. */
export function SearchBox() {
  const { location, navigate } = useRouter();
  const { pathname } = location;
  const params = useSearchParams();
  const input = useRef<HTMLInputElement>(null);
  const atHome = pathname === paths.home && !params.has('board');
  const filters = readFilters(params);
  const inAddress = atHome ? (filters.q ?? '') : '';
  const [text, setText] = useState(inAddress);
  const address = addressOf(pathname, inAddress);
  const [seen, setSeen] = useState(address);
  const [sent, setSent] = useState(address);
  useFocusKey('/', input);
  const hasShortcut = useShortcuts();

  // Back, forward and links replace the text. URL changes by the box itself do not, because the visitor may have typed
  // more since.
  if (address !== seen) {
    setSeen(address);
    if (address !== sent) {
      setSent(address);
      setText(inAddress);
    }
  }

  function search(term: string): void {
    const q = term.trim();
    if (q === inAddress) return;
    const { tag, sort } = atHome ? filters : {};
    setSent(addressOf(paths.home, q));
    // The first search adds a history entry, so Back returns to the list before it. A refined search replaces that entry.
    navigate(paths.list({ ...(q && { q }), ...(tag && { tag }), ...(sort && { sort }) }), {
      replace: inAddress !== '',
    });
  }

  const searchRef = useRef(search);
  useEffect(() => {
    searchRef.current = search;
  });
  useEffect(() => {
    if (text === inAddress) return;
    const timer = setTimeout(() => {
      // The visitor is navigating to another page, whose code is still loading.
      if (window.location.pathname !== pathname) return;
      searchRef.current(text);
    }, DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, inAddress, pathname]);

  function submit(event: FormEvent): void {
    event.preventDefault();
    search(text);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    // Some browsers clear a search field without notifying React.
    event.preventDefault();
    if (text === '') input.current?.blur();
    setText('');
    if (atHome) search('');
  }

  return (
    <search className="search-box">
      <form action={paths.home} method="get" onSubmit={submit}>
        <SearchIcon />
        <input
          ref={input}
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
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {hasShortcut && (
          <span className="search-box-key" aria-hidden="true">
            /
          </span>
        )}
        {atHome && filters.tag && <input type="hidden" name="tag" value={filters.tag} />}
        {atHome && filters.sort && <input type="hidden" name="sort" value={filters.sort} />}
        {languageParam() && <input type="hidden" name="lang" value={languageParam()} />}
        <button type="submit" className="visually-hidden">
          {t('Search')}
        </button>
      </form>
    </search>
  );
}

/** The parts of a URL on which the box depends: the page and its search term. */
function addressOf(pathname: string, q: string): string {
  return `${pathname}?${q}`;
}

/** Moves the focus to a text field when a key is pressed anywhere outside of text fields and dialogs. */
function useFocusKey(key: string, field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    function onKeyDown(event: globalThis.KeyboardEvent): void {
      if (event.key !== key || isShortcutBlocked(event)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [key, field]);
}
