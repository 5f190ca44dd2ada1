import { useEffect, useRef, useState } from 'react';

/** The default value of a product's `image`. */
export const PLACEHOLDER = '/pictures/placeholder.svg';
const HUES = 6;

interface PictureProps {
  src: string;
  alt: string;
  /** The product's name, whose initial replaces a missing picture. */
  name?: string;
  width: number;
  height: number;
  className?: string;
  /** Whether the browser loads the picture immediately and before others. */
  priority?: boolean | undefined;
}

/** An image in a box of fixed size. A drawn placeholder replaces a missing or failed image. */
export function Picture({ src, alt, name = '', width, height, className = '', priority = false }: PictureProps) {
  const image = useRef<HTMLImageElement>(null);
  const [failedSrc, setFailedSrc] = useState<string | null>(null);

  // An image in the server-rendered page may have failed before React attached its handlers.
  useEffect(() => {
    const element = image.current;
    if (element?.complete && element.naturalWidth === 0 && element.getAttribute('src')) setFailedSrc(src);
  }, [src]);

  if (!src || failedSrc === src || (name && src === PLACEHOLDER)) {
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
      ref={image}
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
      onError={() => setFailedSrc(src)}
    />
  );
}

/** Returns the number of a colour, always the same for a name. */
export function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum += character.codePointAt(0) ?? 0;
  return sum % HUES;
}
