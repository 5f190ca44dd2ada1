import { useEffect, useRef, useState } from 'react';

const HUES = 6;

interface AvatarProps {
  name: string;
  /** Without one, or when it fails, the initials are drawn. */
  src?: string;
  size?: 'small' | 'regular' | 'large';
}

/** A face beside a name; the name stands in the text next to it, so this says nothing to screen readers. */
export function Avatar({ name, src, size = 'regular' }: AvatarProps) {
  const image = useRef<HTMLImageElement>(null);
  const [failedSrc, setFailedSrc] = useState<string | null>(null);

  useEffect(() => {
    if (src && image.current?.complete && image.current.naturalWidth === 0) setFailedSrc(src);
  }, [src]);

  return (
    <span className="avatar" data-size={size} data-hue={hueOf(name)} aria-hidden="true">
      {src && failedSrc !== src ? (
        <img
          ref={image}
          src={src}
          alt=""
          width="48"
          height="48"
          loading="lazy"
          decoding="async"
          onError={() => setFailedSrc(src)}
        />
      ) : (
        initialsOf(name)
      )}
    </span>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const initials = [words[0], words.length > 1 ? words.at(-1) : ''].map((word) => Array.from(word ?? '')[0] ?? '');
  return initials.join('').toUpperCase();
}

function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum += character.codePointAt(0) ?? 0;
  return sum % HUES;
}
