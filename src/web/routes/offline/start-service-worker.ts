import { paths } from '../../../contract/paths.ts';

/** From then on every page that is seen is kept. A browser that refuses reads online only. */
export async function startServiceWorker(): Promise<void> {
  // Development serves its files unbundled: there is nothing to keep.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register(paths.serviceWorker);
  } catch (error) {
    console.warn(`The site cannot be kept for reading offline: ${error}`);
  }
}

/** Has what is on screen kept as well, where it was read before there was a service worker. */
export async function keepWhatIsShown(): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage({ page: window.location.href, pictures: picturesOf(document) });
}

/** The site's own pictures that the page has shown. */
function picturesOf({ images }: Document): string[] {
  const shown = [...images].filter(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  return [...new Set(shown.map(({ currentSrc }) => currentSrc))].filter((address) =>
    ['/pictures/', '/images/'].some((folder) => address.startsWith(`${window.location.origin}${folder}`)),
  );
}
