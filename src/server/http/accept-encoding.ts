/** The encodings that we send, best first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;

export type Encoding = (typeof ENCODINGS)[number];

/** Browsers send one of a few values. What was worked out is kept, for as many as a stranger may make us keep. */
const known = new Map<string, Encoding>();
const MAX_KNOWN = 100;

/** The encoding that a client prefers; without the header, the answer goes out as it is. */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  let encoding = known.get(acceptEncoding);
  if (encoding === undefined) {
    encoding = findPreferred(acceptEncoding);
    if (known.size < MAX_KNOWN) known.set(acceptEncoding, encoding);
  }
  return encoding;
}

/**
 * The encoding that a client prefers, by RFC 9110, section 12.5.3: the greatest weight wins, and among equals the one
 * that compresses best. Where a client refuses everything, the answer goes out as it is.
 */
function findPreferred(acceptEncoding: string): Encoding {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  const weightOf = (encoding: Encoding) =>
    // Identity is acceptable unless it is excluded, but nothing that was asked for ranks below it.
    weights.get(encoding) ?? (encoding === 'identity' ? 0.0001 : (weights.get('*') ?? 0));
  return ENCODINGS.reduce(
    (best, encoding) => (weightOf(encoding) > weightOf(best) ? encoding : best),
    ENCODINGS[0] as Encoding,
  );
}
