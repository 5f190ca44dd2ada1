import { useEffect, useRef, useState } from 'react';

/** The default value of a product's `image`. */
export const PLACEHOLDER = '/pictures/placeholder.svg';
const HUES = 6;

interface PictureProps {
  src: string;
  alt: string;
  /** The product's name. Its initial replaces a missing picture. */
  name?: string;
  width: number;
  height: number;
  className?: string;
  /** Whether the browser loads the picture immediately and before other pictures. */
  priority?: boolean | undefined;
}

/** An image in a box of fixed size. A drawn placeholder replaces a missing or failed image. */
export function Picture({ src, alt, name = '', width, height, className = '', priority = false }: PictureProps) {
  const [hasFailed, props] = useImage(src);

  if (!src || hasFailed || (name && src === PLACEHOLDER)) {
    const label = alt ? { role: 'img', 'aria-label': alt } : { 'aria-hidden': true };
    return (
      <span
        className={`picture picture-placeholder ${className}`}
        data-hue={name && hueOf(name)}
        data-initial={Array.from(name.trim())[0]?.toUpperCase()}
        {...label}
      />
    );
  }
  return (
    <img
      {...props}
      className={`picture ${className}`}
      src={src}
      alt={alt}
      width={width}
      height={height}
      loading={priority ? 'eager' : 'lazy'}
      fetchPriority={priority ? 'high' : 'auto'}
      decoding="async"
      // Without a load handler, React would delay a transition until the image has loaded.
      onLoad={() => {}}
    />
  );
}

/**
 * Returns whether an image has failed to load, and the props for its element. Retries a failed image when the network
 * returns.
 */
export function useImage(src: string | undefined) {
  const image = useRef<HTMLImageElement>(null);
  const [failedSrc, setFailedSrc] = useState<string>();

  useEffect(() => {
    // An image in the server-rendered page may have failed before React attached its handlers.
    const element = image.current;
    if (element?.complete && element.naturalWidth === 0) setFailedSrc(src);
    const retry = () => setFailedSrc(undefined);
    window.addEventListener('online', retry);
    return () => window.removeEventListener('online', retry);
  }, [src]);

  return [failedSrc === src, { ref: image, onError: () => setFailedSrc(src) }] as const;
}

/** Returns the number of the placeholder's colour (0 to `HUES` - 1), which depends only on the name. */
export function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum += character.codePointAt(0) ?? 0;
  return sum % HUES;
}
