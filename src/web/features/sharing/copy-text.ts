/**
 * Copies what stands in a field. Where the browser refuses, the text is left selected, so that it can be copied by hand.
 * Resolves to whether it was copied.
 */
export async function copyFrom(field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  try {
    // Missing on plain http.
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand('copy');
  }
}
