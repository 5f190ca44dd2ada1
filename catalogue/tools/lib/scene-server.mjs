import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compile } from 'svelte/compiler';

const toolsFolder = new URL('../', import.meta.url);
const types = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
  '.ttf': 'font/ttf',
  '.html': 'text/html',
  '.mp4': 'video/mp4',
  '.wasm': 'application/wasm',
};

/** Compiles Svelte components, which are in samples/. */
const sveltePlugin = {
  name: 'svelte',
  setup(builder) {
    builder.onResolve({ filter: /\.svelte$/ }, ({ path }) => ({
      path: fileURLToPath(new URL(`samples/svelte/${path.slice(2)}.txt`, toolsFolder)),
      namespace: 'svelte',
    }));
    builder.onLoad({ filter: /.*/, namespace: 'svelte' }, async ({ path }) => ({
      contents: compile(await readFile(path, 'utf8'), {
        generate: 'client',
        css: 'injected',
        filename: path.replace(/\.txt$/, ''),
      }).js.code,
      resolveDir: fileURLToPath(toolsFolder),
    }));
  },
};

async function bundle(entry, format = 'esm') {
  const result = await build({
    // The entry of a worker is a path in a package; that of a scene is a file in the tools folder.
    entryPoints: [format === 'esm' ? fileURLToPath(new URL(entry, toolsFolder)) : entry],
    absWorkingDir: fileURLToPath(toolsFolder),
    bundle: true,
    write: false,
    format,
    outdir: '/bundle',
    jsx: 'automatic',
    conditions: ['production', 'browser', 'style'],
    define: { 'process.env.NODE_ENV': '"production"', 'process.env.IS_PREACT': '"false"', global: 'globalThis' },
    loader: {
      '.ttf': 'dataurl',
      '.woff': 'dataurl',
      '.woff2': 'dataurl',
      '.svg': 'dataurl',
      '.png': 'dataurl',
      '.gif': 'dataurl',
      '.txt': 'text',
      '.html': 'text',
    },
    plugins: [sveltePlugin],
    logLevel: 'error',
  });
  const text = (ending) =>
    result.outputFiles
      .filter((file) => file.path.endsWith(ending))
      .map((file) => file.text)
      .join('\n');
  return { script: text('.js'), style: text('.css') };
}

/** Serves the tools folder on loopback, pages with bundled scenes at /scene/<file>, and bundled workers at /worker/<path>. */
export async function startSceneServer() {
  const pages = new Map();
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const send = (type, body) => response.setHeader('content-type', type).end(body);
    try {
      if (pages.has(path)) return send('text/html; charset=utf-8', pages.get(path));
      if (path.startsWith('/scene/')) {
        const { script, style } = await bundle(path.slice('/scene/'.length));
        const head = '*{box-sizing:border-box}html,body,#app{margin:0;width:100%;height:100%}';
        return send(
          'text/html; charset=utf-8',
          `<!doctype html><html lang="en"><meta charset="utf-8"><style>${head}</style><style>${style}</style><body><div id="app"></div><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`,
        );
      }
      if (path.startsWith('/worker/')) {
        const { script } = await bundle(path.slice('/worker/'.length), 'iife');
        return send('text/javascript', script);
      }
      send(types[extname(path)] ?? 'text/plain', await readFile(new URL(`.${path}`, toolsFolder)));
    } catch (error) {
      response.statusCode = 404;
      send('text/plain', String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, addPage: (path, html) => pages.set(path, html), close: () => server.close() };
}
