import { hueOf, useImage } from './picture.tsx';

interface AvatarProps {
  name: string;
  /** The URL of the picture. If it is unset or fails to load, initials are shown. */
  src?: string;
  size?: 'small' | 'regular';
}

/** A person's picture. Screen readers skip it, because the name is next to it. */
export function Avatar({ name, src, size = 'regular' }: AvatarProps) {
  const [hasFailed, props] = useImage(src);

  return (
    <span className="avatar" data-size={size} data-hue={hueOf(name)} aria-hidden="true">
      {src && !hasFailed ? (
        <img {...props} src={src} alt="" width="48" height="48" loading="lazy" decoding="async" />
      ) : (
        initialsOf(name)
      )}
    </span>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const initials = [words[0], words.slice(1).at(-1)].map((word = '') => Array.from(word)[0]);
  return initials.join('').toUpperCase();
}
