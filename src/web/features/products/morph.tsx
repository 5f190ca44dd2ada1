import { type ReactElement, ViewTransition } from 'react';

interface MorphProps {
  part: 'picture' | 'name';
  productId: string;
  children: ReactElement;
}

/** What a product keeps on the way between its card and its page: one grows out of the other, where the browser can. */
export function Morph({ part, productId, children }: MorphProps) {
  return (
    <ViewTransition name={`${part}-${productId}`} share={`morph-${part}`} default="none">
      {children}
    </ViewTransition>
  );
}
