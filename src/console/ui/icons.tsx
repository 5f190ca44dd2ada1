import { Icon } from '../../web/ui/icons.tsx';

export const OverviewIcon = () => (
  <Icon>
    <path d="M3 16.5h14M4.5 13l3.5-4 3 2.5L16 5.5" />
  </Icon>
);
export const QueueIcon = () => (
  <Icon>
    <path d="M3 11.5h4l1.5 2.5h3l1.5-2.5h4M3 11.5 5.5 4h9L17 11.5V16H3Z" />
  </Icon>
);
export const ProductsIcon = () => (
  <Icon>
    <path d="M3.5 3.5h5.5V9H3.5zM11 3.5h5.5V9H11zM3.5 11H9v5.5H3.5zM11 11h5.5v5.5H11z" />
  </Icon>
);
export const ImportIcon = () => (
  <Icon>
    <path d="M10 3v9M6.5 8.5 10 12l3.5-3.5M3.5 13v3.5h13V13" />
  </Icon>
);
export const AuditIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.75" />
    <path d="M10 6v4.25l2.75 1.75" />
  </Icon>
);
export const BackupIcon = () => (
  <Icon>
    <path d="M4 5c0-1.2 2.7-2 6-2s6 .8 6 2-2.7 2-6 2-6-.8-6-2ZM4 5v10c0 1.2 2.7 2 6 2s6-.8 6-2V5M4 10c0 1.2 2.7 2 6 2s6-.8 6-2" />
  </Icon>
);
export const SignOutIcon = () => (
  <Icon>
    <path d="M12 4H4v12h8M8.5 10H17m-3-3 3 3-3 3" />
  </Icon>
);
