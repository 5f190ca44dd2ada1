/** Drawn like the icons of ui/icons.tsx; it is filled by CSS where something is saved. */
export function BookmarkIcon() {
  return (
    <svg
      className="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d="M5.5 3.5h9v13L10 12.9l-4.5 3.6Z" />
    </svg>
  );
}
