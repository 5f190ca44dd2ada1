import { t } from '../../language/translate.ts';
import { useDeferredDialog } from '../../ui/deferred-dialog.ts';
import { ShareIcon } from '../../ui/icons.tsx';

const load = () => import('./share-dialog.tsx').then((module) => module.ShareDialog);

export function ShareButton({ product }: { product: { id: string; name: string } }) {
  const { Dialog, close, props } = useDeferredDialog(load);
  return (
    <>
      <button type="button" className="button share-button" data-tone="outline" {...props}>
        <ShareIcon />
        {t('Share')}
      </button>
      {Dialog && <Dialog product={product} onClose={close} />}
    </>
  );
}
