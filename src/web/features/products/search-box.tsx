import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import { useShortcuts } from '../../lib/keyboard.ts';
import { SearchIcon } from '../../ui/icons.tsx';
import { listHref, readFilters } from './filters.ts';
import { useFocusKey } from './use-focus-key.ts';

const DEBOUNCE_MS = 200;

/** Searches as one types; without JavaScript it is a form that asks for the home page with `?q=`. */
export function SearchBox() {
  const { pathname } = useLocation();
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const input = useRef<HTMLInputElement>(null);
  const atHome = pathname === paths.home;
  const filters = readFilters(params);
  const inAddress = atHome ? (filters.q ?? '') : '';
  const [text, setText] = useState(inAddress);
  const address = addressOf(pathname, inAddress);
  const [seen, setSeen] = useState(address);
  const [sent, setSent] = useState(address);
  useFocusKey('/', input);
  const hasShortcut = useShortcuts();

  // Back, forward and links change the address under the box; what was typed here does not come back as an echo.
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
    const sort = atHome && filters.sort ? { sort: filters.sort } : {};
    setSent(addressOf(paths.home, q));
    // The first search is a step that Back returns from; refining it is not.
    navigate(listHref({ ...(q ? { q } : {}), ...sort }), { replace: atHome });
  }

  const searchRef = useRef(search);
  useEffect(() => {
    searchRef.current = search;
  });
  useEffect(() => {
    if (text === inAddress) return;
    const timer = setTimeout(() => {
      // The visitor is on the way to another page, whose code is still being fetched.
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
    // A search field clears itself in some browsers, without telling React.
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
          name="q"
          value={text}
          maxLength={LIMITS.searchCharacters}
          placeholder="Search products..."
          aria-label="Search products"
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
        <button type="submit" className="visually-hidden">
          Search
        </button>
      </form>
    </search>
  );
}

/** What of an address concerns the box: the page, and the term that is searched for there. */
function addressOf(pathname: string, q: string): string {
  return `${pathname}?${q}`;
}
