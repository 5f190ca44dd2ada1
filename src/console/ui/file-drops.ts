import { useEffect } from 'react';

/** Ignores files that are dropped outside of drop zones. The browser would open such a file in place of the page. */
export function useIgnoredFileDrops(): void {
  useEffect(() => {
    function ignore(event: DragEvent): void {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    }
    window.addEventListener('dragover', ignore);
    window.addEventListener('drop', ignore);
    return () => {
      window.removeEventListener('dragover', ignore);
      window.removeEventListener('drop', ignore);
    };
  }, []);
}
