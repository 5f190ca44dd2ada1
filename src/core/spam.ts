/** The result of checking whether a text was sent too often recently. */
export interface Repetition {
  isRepeated: boolean;
  /** Subtracts this text from the count. Called if nothing was created. */
  uncount(): void;
}

/**
 * Calls `add` and tells it whether a visitor's text looks like spam: the text was repeated, or the hidden field
 * `website`, which only bots fill in, is not empty.
 * @throws the errors of `add`.
 */
export async function addWithSpamCheck<Added extends { created: boolean }>(
  { website = '' }: { website?: string },
  repetition: Repetition | undefined,
  add: (suspectedSpam: boolean) => Promise<Added>,
): Promise<Added> {
  let created = false;
  try {
    const added = await add(website !== '' || repetition?.isRepeated === true);
    created = added.created;
    return added;
  } finally {
    if (!created) repetition?.uncount();
  }
}
