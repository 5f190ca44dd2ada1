import { paths } from '../../../contract/paths.ts';
import type { PageHead } from '../../routing/document-head.ts';

/** The head of the public moderation log. A later page is found under its first. */
export function logHead(siteName: string): PageHead {
  return {
    title: `Moderation log · ${siteName}`,
    description: `What the operators of ${siteName} removed, hid, excluded or declined, when, and for what reason.`,
    canonical: paths.moderationLog(),
  };
}
