import { useEffect, useRef, useState } from 'react';
import { hueOf } from './picture.tsx';

interface AvatarProps {
  name: string;
  /** If it is unset or fails to load, initials are shown. */
  src?: string;
  size?: 'small' | 'regular';
}

/** A person's picture. Screen readers skip it, because the name is next to it. */
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
