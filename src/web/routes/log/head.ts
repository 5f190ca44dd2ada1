import { paths } from '../../../contract/paths.ts';
import { t } from '../../language/translate.ts';
import type { PageHead } from '../../routing/document-head.ts';

/** The head of the public moderation log. A later page is found under its first. */
export function logHead(siteName: string): PageHead {
  return {
    title: `${t('Moderation log')} · ${siteName}`,
    description: t('What the operators of {site} removed, hid, excluded or declined, when, and for what reason.', {
      site: siteName,
    }),
    canonical: paths.moderationLog(),
  };
}
