export interface Closeable {
  close(): unknown;
}

/** The last that was started ends first, since it may rest on those before it. */
export async function closeAll(closeables: readonly Closeable[]): Promise<void> {
  for (const closeable of closeables.toReversed()) await closeable.close();
}
