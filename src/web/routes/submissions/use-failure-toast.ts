import * as paths from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import { useRouter } from '../../routing/router.tsx';
import { showToast } from '../../ui/toasts.ts';
import type { Failure } from './submissions-client.ts';

/** Returns a function that shows a failure whose dialog was closed. `id` is the id of the submission, if it exists. */
export function useFailureToast() {
  const { navigate } = useRouter();
  return ({ title, detail }: Failure, id?: string): void => {
    const action = id && { label: t('See your launch'), onPress: () => navigate(paths.product(id)) };
    showToast({ title, description: detail, tone: 'destructive', ...(action && { action }) });
  };
}
