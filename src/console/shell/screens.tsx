import type { ComponentType } from 'react';
import type { ConsoleScreen } from '../../contract/console/paths.ts';
import { CommentIcon } from '../../web/ui/icons.tsx';
import { AuditScreen } from '../screens/audit/audit-screen.tsx';
import { BackupScreen } from '../screens/backup/backup-screen.tsx';
import { CommentsScreen } from '../screens/comments/comments-screen.tsx';
import { ImportScreen } from '../screens/import/import-screen.tsx';
import { OverviewScreen } from '../screens/overview/overview-screen.tsx';
import { ProductsScreen } from '../screens/products/products-screen.tsx';
import { QueueScreen } from '../screens/queue/queue-screen.tsx';
import { AuditIcon, BackupIcon, ImportIcon, OverviewIcon, ProductsIcon, QueueIcon } from '../ui/icons.tsx';

interface ScreenEntry {
  screen: ConsoleScreen;
  label: string;
  /** The second key of the sequence that opens the screen, after G. */
  key: string;
  Icon: ComponentType;
  Screen: ComponentType;
}

/** The screens in the order of the navigation. */
export const SCREENS: readonly ScreenEntry[] = [
  { screen: 'overview', label: 'Overview', key: 'o', Icon: OverviewIcon, Screen: OverviewScreen },
  { screen: 'queue', label: 'Queue', key: 'q', Icon: QueueIcon, Screen: QueueScreen },
  { screen: 'products', label: 'Products', key: 'p', Icon: ProductsIcon, Screen: ProductsScreen },
  { screen: 'comments', label: 'Comments', key: 'c', Icon: CommentIcon, Screen: CommentsScreen },
  { screen: 'import', label: 'Import', key: 'i', Icon: ImportIcon, Screen: ImportScreen },
  { screen: 'audit', label: 'Audit log', key: 'l', Icon: AuditIcon, Screen: AuditScreen },
  { screen: 'backup', label: 'Backup', key: 'b', Icon: BackupIcon, Screen: BackupScreen },
];
