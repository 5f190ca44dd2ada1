import type { PageHead } from '../../routing/document-head.ts';
import { HOME_DESCRIPTION } from '../home/head.ts';

export function notFoundHead(siteName: string): PageHead {
  return { title: `Page not found · ${siteName}`, description: HOME_DESCRIPTION, noindex: true };
}
