import { useEffect, useRef, useState } from 'react';

interface PictureProps {
  src: string;
  alt: string;
  width: number;
  height: number;
  className?: string;
  /** The one picture of the page that is worth waiting for. */
  priority?: boolean;
}

/** An image in a box of fixed shape; a drawn placeholder takes its place when it is missing or fails. */
export function Picture({ src, alt, width, height, className = '', priority = false }: PictureProps) {
  const image = useRef<HTMLImageElement>(null);
  const [failedSrc, setFailedSrc] = useState<string | null>(null);

  // An image of the server's page may have failed before React was there to hear of it.
  useEffect(() => {
    const element = image.current;
    if (element?.complete && element.naturalWidth === 0 && element.getAttribute('src')) setFailedSrc(src);
  }, [src]);

  if (!src || failedSrc === src) return <PicturePlaceholder alt={alt} className={className} />;
  return (
    <img
      ref={image}
      className={`picture ${className}`}
      src={src}
      alt={alt}
      width={width}
      height={height}
      loading={priority ? 'eager' : 'lazy'}
      fetchPriority={priority ? 'high' : 'auto'}
      decoding="async"
      // React holds a change of pages up for an image that nobody listens to.
      onLoad={() => {}}
      onError={() => setFailedSrc(src)}
    />
  );
}

function PicturePlaceholder({ alt, className }: { alt: string; className: string }) {
  const name = alt === '' ? ({ 'aria-hidden': true } as const) : ({ role: 'img', 'aria-label': alt } as const);
  return (
    <span className={`picture picture-placeholder ${className}`} {...name}>
      <svg viewBox="0 0 64 64" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        <circle className="picture-placeholder-sun" cx="42" cy="22" r="8" />
        <path className="picture-placeholder-back" d="M0 40c12 0 16-12 30-12s20 14 34 9v27H0Z" />
        <path className="picture-placeholder-front" d="M0 50c10 0 14-7 24-7s16 9 26 9 10-3 14-4v16H0Z" />
      </svg>
    </span>
  );
}
