import { createContext, useContext, useEffect } from 'react';

export const SiteNameContext = createContext('Groundswell');

export function useSiteName(): string {
  return useContext(SiteNameContext);
}

/** The server writes the first title; this keeps it right from then on. */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}
