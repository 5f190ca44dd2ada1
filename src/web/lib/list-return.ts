/** The list that was last looked at, so that 'Back to products' can lead to the very place it was left at. */
interface ListPlace {
  href: string;
  /** The history entry whose scroll position is to be restored. */
  key: string;
}

let last: ListPlace | null = null;

export function rememberList(place: ListPlace): void {
  last = place;
}

export function lastList(): ListPlace | null {
  return last;
}
