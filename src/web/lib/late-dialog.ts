import { type ComponentType, useState } from 'react';
import { showToast } from './toasts.ts';

/** A dialog whose code comes when somebody is about to ask for it. `props` are those of the button that opens it. */
export function useLateDialog<Props>(load: () => Promise<ComponentType<Props>>) {
  const [Dialog, setDialog] = useState<ComponentType<Props> | null>(null);

  async function open(): Promise<void> {
    try {
      const loaded = await load();
      setDialog(() => loaded);
    } catch {
      showToast({ title: 'Error', description: 'This could not be loaded.', tone: 'destructive' });
    }
  }

  // What cannot be fetched now is asked for again by the click.
  const prepare = () => void load().catch(() => {});
  const props = { 'aria-haspopup': 'dialog', onClick: open, onPointerEnter: prepare, onFocus: prepare } as const;
  return { Dialog, open, close: () => setDialog(null), props };
}
