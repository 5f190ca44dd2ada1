import { useSiteName, useSiteUrl } from '../../lib/document-head.ts';
import { useLateDialog } from '../../lib/late-dialog.ts';
import { ShareIcon } from '../../ui/icons.tsx';

const load = () => import('./share-dialog.tsx').then((module) => module.ShareDialog);

/** Opens the ways to share a product. */
export function ShareButton({ product }: { product: { id: string; name: string } }) {
  const site = { siteName: useSiteName(), siteUrl: useSiteUrl() };
  const { Dialog, close, props } = useLateDialog(load);
  return (
    <>
      <button type="button" className="button share-button" data-tone="outline" {...props}>
        <ShareIcon />
        Share
      </button>
      {Dialog && <Dialog product={{ ...product, ...site }} onClose={close} />}
    </>
  );
}
