/** Scrolls to what has just come in, puts the focus there, and has it light up; without it, the focus goes to the heading. */
export async function pointOut(find: () => Element | null | undefined | '', headingId: string): Promise<void> {
  // The list is drawn with what was read by then.
  await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  const found = find();
  const target = found ?? document.getElementById(headingId);
  if (!(target instanceof HTMLElement)) return;
  if (found) target.dataset.news = 'shown';
  if (!target.hasAttribute('tabindex')) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  const lessMotion = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  target.scrollIntoView({ block: found ? 'center' : 'start', behavior: lessMotion ? 'instant' : 'smooth' });
}
