import { FOLDERS } from '../../../contract/paths/folders.ts';
import * as paths from '../../../contract/paths.ts';

/** Starts the service worker, which caches visited pages. Without it, pages can be read only online. */
export async function startServiceWorker(): Promise<void> {
  // The development server has no bundled files to cache.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // The worker of a new build has empty caches. The first worker is asked when the page appears.
  let hasWorker = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (hasWorker) void cacheVisiblePage();
    hasWorker = true;
  });
  try {
    await navigator.serviceWorker.register(paths.serviceWorker);
  } catch (error) {
    console.warn(`Cannot start the service worker, so pages cannot be read offline: ${error}`);
  }
}

/** Asks the service worker to cache the visible page, which may have loaded before the worker was active. */
export async function cacheVisiblePage(): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { active } = await navigator.serviceWorker.ready;
  const language = performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .find((name) => name.includes(`${FOLDERS.assets}language-`));
  active?.postMessage({ page: window.location.href, pictures: picturesOf(document), language });
}

/** Returns the loaded pictures on the page that are files of this site. */
function picturesOf({ images }: Document): string[] {
  const shown = [...images].filter(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  return [...new Set(shown.map(({ currentSrc }) => currentSrc))].filter((address) =>
    [FOLDERS.pictures, FOLDERS.images, FOLDERS.brand].some((folder) =>
      address.startsWith(`${window.location.origin}${folder}`),
    ),
  );
}
