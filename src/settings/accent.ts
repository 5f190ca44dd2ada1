import { quote } from './read-value.ts';

/** The colours of one theme that are derived from an accent, named like the tokens in `src/web/ui/tokens.css`. */
interface AccentColours {
  sun: string;
  sunStrong: string;
  sunSoft: string;
  onSun: string;
}

/** The colours of both themes that are derived from an accent. */
export interface Accent {
  light: AccentColours;
  dark: AccentColours;
}

/** The backgrounds on which pages show the accent, as in tokens.css. */
export const BACKGROUNDS = {
  light: { surface: '#ffffff', paper: '#f7f9f8' },
  dark: { surface: '#0d2030', paper: '#071521' },
} as const;

/** The minimum contrast that WCAG 2.2 requires of text on the accent. */
const TEXT_CONTRAST = 4.5;
/** The minimum contrast that WCAG 2.2 requires of large text and graphics: ranks, icons and borders in the accent. */
const GRAPHICS_CONTRAST = 3;
/** The minimum contrast of the small text on badges. */
const BADGE_CONTRAST = 7;

/** The OKLCH lightness of the dark theme's colours, close to that of the default orange in tokens.css. */
const DARK = { sun: 0.78, sunStrong: 0.85, sunSoft: 0.25, onSun: 0.19 } as const;

/**
 * Reads SITE_ACCENT. The light theme uses the colour itself. The dark theme uses the same hue at a readable lightness,
 * with as much of the chroma as sRGB can show. @throws Error if the colour is malformed or its contrast too low.
 */
export function readAccent(text: string): Accent {
  const sun = text.toLowerCase();
  if (!/^#[0-9a-f]{6}$/.test(sun))
    throw new Error(`${quote(text)} is not a colour of the form #rrggbb, such as #0b6e4f`);
  const accent = deriveAccent(sun);
  for (const theme of ['light', 'dark'] as const) {
    const { sun: shown, onSun } = accent[theme];
    const { surface, paper } = BACKGROUNDS[theme];
    const name = theme === 'light' ? sun : `${sun}, which is ${shown} in the dark theme,`;
    for (const [background, needed] of [
      [onSun, TEXT_CONTRAST],
      [surface, GRAPHICS_CONTRAST],
      [paper, GRAPHICS_CONTRAST],
    ] as const) {
      const measured = contrast(shown, background);
      if (measured < needed) throw new Error(contrastError(name, background, measured, needed));
    }
  }
  return accent;
}

function contrastError(name: string, background: string, measured: number, needed: number): string {
  const where = background === '#ffffff' ? 'white' : background;
  // Rounds down, so the message does not report 4.46 as the required 4.5.
  const ratio = Math.floor(measured * 10) / 10;
  return `${name} has a contrast of ${ratio}:1 on ${where}; ${needed}:1 is needed, so choose a darker colour`;
}

/** Returns the CSS that sets this accent. Its selector takes precedence over the selector in tokens.css. */
export function accentStyle({ light, dark }: Accent): string {
  const both = (name: keyof AccentColours) => `light-dark(${light[name]},${dark[name]})`;
  return `:root:root{--sun:${both('sun')};--sun-strong:${both('sunStrong')};--sun-soft:${both('sunSoft')};--on-sun:${both('onSun')}}`;
}

function deriveAccent(sun: string): Accent {
  const { l, c, h } = toOklch(sun);
  const shade = (lightness: number, maxChroma = c) => fromOklch({ l: lightness, c: Math.min(c, maxChroma), h });
  const sunSoft = shade(0.965, 0.02);
  // An almost black accent becomes lighter instead of darker, because a darker shade would not be visible on hover.
  let strong = l > 0.2 ? l - 0.09 : l + 0.25;
  while (strong > 0 && contrast(shade(strong), sunSoft) < BADGE_CONTRAST) strong -= 0.01;
  return {
    light: { sun, sunStrong: shade(Math.max(strong, 0)), sunSoft, onSun: '#ffffff' },
    dark: {
      sun: shade(DARK.sun),
      sunStrong: shade(DARK.sunStrong),
      sunSoft: shade(DARK.sunSoft, 0.035),
      onSun: shade(DARK.onSun, 0.05),
    },
  };
}

/** Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = toLinear(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

type Triple = readonly [number, number, number];

function toLinear(colour: string): Triple {
  const channel = (start: number) => {
    const value = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

interface Oklch {
  l: number;
  c: number;
  /** The hue in radians. */
  h: number;
}

// The matrices of https://bottosson.github.io/posts/oklab/.

function toOklch(colour: string): Oklch {
  const [r, g, b] = toLinear(colour);
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const l = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const yellow = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  return { l, c: Math.hypot(a, yellow), h: Math.atan2(yellow, a) };
}

/** Converts to the nearest sRGB colour of this lightness and hue by reducing the chroma until it fits. */
function fromOklch({ l, c, h }: Oklch): string {
  let fitting = 0;
  let tooMuch = c;
  if (isInGamut(oklchToLinear({ l, c, h }))) fitting = c;
  else {
    for (let step = 0; step < 20; step += 1) {
      const middle = (fitting + tooMuch) / 2;
      if (isInGamut(oklchToLinear({ l, c: middle, h }))) fitting = middle;
      else tooMuch = middle;
    }
  }
  return `#${oklchToLinear({ l, c: fitting, h }).map(toHex).join('')}`;
}

function oklchToLinear({ l, c, h }: Oklch): Triple {
  const [a, b] = [c * Math.cos(h), c * Math.sin(h)];
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
}

const isInGamut = (channels: Triple) => channels.every((value) => value >= -1e-4 && value <= 1 + 1e-4);

function toHex(linear: number): string {
  const value = Math.min(1, Math.max(0, linear));
  const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
  return Math.round(encoded * 255)
    .toString(16)
    .padStart(2, '0');
}
