import { FOLDERS } from '../../../contract/paths/folders.ts';
import { paths } from '../../../contract/paths.ts';

/** Starts the service worker, which from then on caches every visited page. Without it, pages can be read online only. */
export async function startServiceWorker(): Promise<void> {
  // Development serves its files unbundled, so there is no build to cache.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register(paths.serviceWorker);
  } catch (error) {
    console.warn(`Cannot start the service worker, so pages cannot be read offline: ${error}`);
  }
}

/** Asks the service worker to cache the visible page, too, which may have loaded before the worker was active. */
export async function cacheVisiblePage(): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { active } = await navigator.serviceWorker.ready;
  const language = performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .find((name) => name.includes(`${FOLDERS.assets}language-`));
  active?.postMessage({ page: window.location.href, pictures: picturesOf(document), language });
}

/** The site's own pictures on the page. */
function picturesOf({ images }: Document): string[] {
  const shown = [...images].filter(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  return [...new Set(shown.map(({ currentSrc }) => currentSrc))].filter((address) =>
    [FOLDERS.pictures, FOLDERS.images, FOLDERS.brand].some((folder) =>
      address.startsWith(`${window.location.origin}${folder}`),
    ),
  );
}
