import { type ComponentType, useState } from 'react';
import { showLoadFailure } from './toasts.ts';

/**
 * Loads the code of a dialog when the pointer or the focus reaches the control that opens it. Spread `props` on the
 * control.
 */
export function useDeferredDialog<Props>(load: () => Promise<ComponentType<Props>>) {
  const [Dialog, setDialog] = useState<ComponentType<Props> | null>(null);

  function open(): Promise<void> {
    // Removes a dialog that was just closed, because its `close` event does not fire until the next frame.
    setDialog(null);
    return load().then((loaded) => setDialog(() => loaded), showLoadFailure);
  }

  // A failure is ignored, because the click tries again.
  const prepare = () => void load().catch(() => {});
  const props = { 'aria-haspopup': 'dialog', onClick: open, onPointerEnter: prepare, onFocus: prepare } as const;
  return { Dialog, open, close: () => setDialog(null), props };
}
