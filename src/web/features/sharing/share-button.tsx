import { type ComponentProps, type ComponentType, useState } from 'react';
import { useSiteName, useSiteUrl } from '../../lib/document-head.ts';
import { showToast } from '../../lib/toasts.ts';
import { ShareIcon } from '../../ui/icons.tsx';
import type { ShareDialog } from './share-dialog.tsx';

type Dialog = ComponentType<ComponentProps<typeof ShareDialog>>;

const load = () => import('./share-dialog.tsx').then((module): Dialog => module.ShareDialog);

/** Opens the ways to share a product; their code comes when somebody is about to ask for them. */
export function ShareButton({ product }: { product: { id: string; name: string } }) {
  const site = { siteName: useSiteName(), siteUrl: useSiteUrl() };
  const [Opened, setOpened] = useState<Dialog | null>(null);

  async function open(): Promise<void> {
    try {
      const dialog = await load();
      setOpened(() => dialog);
    } catch {
      showToast({ title: 'Error', description: 'The ways to share could not be loaded.', tone: 'destructive' });
    }
  }

  // What cannot be fetched now is asked for again by the click.
  const prepare = () => void load().catch(() => {});
  return (
    <>
      <button
        type="button"
        className="button share-button"
        data-tone="outline"
        aria-haspopup="dialog"
        onClick={open}
        onPointerEnter={prepare}
        onFocus={prepare}
      >
        <ShareIcon />
        Share
      </button>
      {Opened && <Opened product={{ ...product, ...site }} onClose={() => setOpened(null)} />}
    </>
  );
}
