/** A grey placeholder for a line of text. */
export function SkeletonLine({ width }: { width: 'short' | 'medium' | 'long' }) {
  return <span className="skeleton skeleton-line" data-width={width} />;
}

/** A grey placeholder for a picture or a control. `className` sets its size. */
export function SkeletonBox({ className }: { className: string }) {
  return <span className={`skeleton ${className}`} />;
}
