/** A grey bar where a line of text will be. */
export function SkeletonLine({ width }: { width: 'short' | 'medium' | 'long' }) {
  return <span className="skeleton skeleton-line" data-width={width} />;
}

/** A grey box where a picture or a control will be; `className` gives it its size. */
export function SkeletonBox({ className }: { className: string }) {
  return <span className={`skeleton ${className}`} />;
}
