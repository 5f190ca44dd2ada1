import type { ReactNode } from 'react';

/** An icon on a 20 × 20 grid. All icons have the same stroke width, and screen readers skip them. */
export function Icon({ children, className = '' }: { children: ReactNode; className?: string }) {
  return (
    <svg
      className={`icon ${className}`}
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

/** An arrowhead above a wave. */
export const ArrowUpIcon = () => (
  <Icon className="icon-rise">
    <path d="M4.5 11.5 10 5.5l5.5 6" />
    <path d="M6 15.5c1.3-1.2 2.7-1.2 4 0s2.7 1.2 4 0" />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="5.25" />
    <path d="m13 13 4 4" />
  </Icon>
);
export const CommentIcon = () => (
  <Icon>
    <path d="M4 4.5h12a1.5 1.5 0 0 1 1.5 1.5v6.5A1.5 1.5 0 0 1 16 14H9l-4 3v-3H4a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 4 4.5Z" />
  </Icon>
);
export const HeartIcon = () => (
  <Icon>
    <path d="M10 16.5S3 12.6 3 7.8A3.6 3.6 0 0 1 6.7 4c1.5 0 2.6.8 3.3 2 .7-1.2 1.8-2 3.3-2A3.6 3.6 0 0 1 17 7.8c0 4.8-7 8.7-7 8.7Z" />
  </Icon>
);
export const ReplyIcon = () => (
  <Icon className="icon-step">
    <path d="M8 5 3.5 9.5 8 14" />
    <path d="M4 9.5h7.5a5 5 0 0 1 5 5V15" />
  </Icon>
);
export const ChevronLeftIcon = () => (
  <Icon className="icon-step">
    <path d="m12.5 4.5-5.5 5.5 5.5 5.5" />
  </Icon>
);
export const ChevronRightIcon = () => (
  <Icon className="icon-step">
    <path d="m7.5 4.5 5.5 5.5-5.5 5.5" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m5 5 10 10M15 5 5 15" />
  </Icon>
);
export const ExternalIcon = () => (
  <Icon>
    <path d="M11 4h5v5M16 4l-7.5 7.5M14 11.5V15a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h3.5" />
  </Icon>
);
export const ShareIcon = () => (
  <Icon>
    <path d="M10 12.5v-9M6.5 6.5 10 3l3.5 3.5M6 9.5H4.5V17h11V9.5H14" />
  </Icon>
);
export const MenuIcon = () => (
  <Icon>
    <path d="M3.5 6h13M3.5 10h13M3.5 14h13" />
  </Icon>
);
export const BellIcon = () => (
  <Icon>
    <path d="M5 14V9a5 5 0 0 1 10 0v5l1.5 1h-13L5 14ZM8.5 17.5h3" />
  </Icon>
);
/** CSS fills the icon of a saved product. */
export const BookmarkIcon = () => (
  <Icon>
    <path d="M5.5 3.5h9v13L10 12.9l-4.5 3.6Z" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon className="icon-moon">
    <path d="M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3Z" />
  </Icon>
);
export const SunIcon = () => (
  <Icon className="icon-sun">
    <circle cx="10" cy="10" r="3.5" />
    <path d="M10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M15.3 4.7 14 6M6 14l-1.3 1.3" />
  </Icon>
);

/**
 * The operator's logo, or the default logo. It has no alternative text, because the site's name is always next to it.
 */
export const SiteMark = ({ logo }: { logo?: string | undefined }) =>
  logo === undefined ? <WaveMark /> : <img className="site-logo" src={logo} alt="" width="32" height="32" />;

/** The default logo: a swell that rises into a crest. */
export const WaveMark = () => (
  <svg className="wave-mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
    <rect className="wave-mark-sea" width="32" height="32" rx="9" />
    <circle className="wave-mark-sun" cx="22.5" cy="10" r="4" />
    <path className="wave-mark-back" d="M0 21c5 0 7-6.5 13-6.5S22 21 32 19v4a9 9 0 0 1-9 9H9a9 9 0 0 1-9-9Z" />
    <path
      className="wave-mark-front"
      d="M0 24.5c4.5 0 6-3 10.5-3s6.5 4 11.5 4 7-2 10-2.5a9 9 0 0 1-9 9H9a9 9 0 0 1-9-7.5Z"
    />
  </svg>
);
