import { type ReactElement, ViewTransition } from 'react';

interface MorphProps {
  part: 'picture' | 'name';
  productId: string;
  children: ReactElement;
}

/**
 * Marks an element that a product's card and its page share in a view transition, if the browser supports transitions.
 */
export function Morph({ part, productId, children }: MorphProps) {
  return (
    <ViewTransition name={`${part}-${productId}`} share={`morph-${part}`} default="none">
      {children}
    </ViewTransition>
  );
}
