// The sources of each screenshot. recording: recordings/<file>; code: samples/<file>.txt; scene: a page in scenes/;
// picture: a file that a tool drew, or that captures/ made of a tool's server.
const screen = (recording, options) => ({ recording: `${recording}.txt`, screen: true, ...options });
const terminal = (recording, options) => ({ recording: `${recording}.txt`, ...options });
const code = (file, lang, recording, options) => ({
  code: file,
  lang,
  ...(recording && { recording: `${recording}.txt` }),
  ...options,
});
const scene = (file, options) => ({ scene: `scenes/${file}`, ...options });

const capture = (name) => ({ picture: `recordings/${name}.png` });

async function openOperation(page) {
  await page.click('#operations-berths-get_berths .opblock-summary-control');
  await page.click('text=Try it out');
  await page.evaluate(() => document.querySelector('#operations-tag-berths').scrollIntoView());
  await page.waitForTimeout(600);
}

async function runQuery(page) {
  await page.click('.graphiql-execute-button');
  await page.waitForTimeout(1200);
}

async function exploreSchema(page) {
  await runQuery(page);
  await page.click('button[aria-label*="Documentation"]');
  await page.waitForTimeout(500);
  await page.click('.graphiql-doc-explorer a:has-text("Query")');
  await page.waitForTimeout(700);
}

export const shots = {
  git: [
    terminal('git-1', { title: 'tides — git log' }),
    terminal('git-2', { title: 'tides — git diff', theme: 'paper' }),
  ],
  python: [
    code('python/tides.py', 'python', 'python-1', { theme: 'paper' }),
    terminal('python-2', { title: 'python3' }),
  ],
  go: [code('go/main.go', 'go', 'go-1'), terminal('go-2', { title: 'wave — go test', theme: 'paper' })],
  rust: [
    terminal('rust-2', { title: 'rustc — the borrow checker explains' }),
    code('rust/main.rs', 'rust', 'rust-1', { theme: 'paper' }),
  ],
  ruby: [
    code('ruby/crews.rb', 'ruby', 'ruby-1', { theme: 'plum' }),
    terminal('ruby-2', { title: 'irb', theme: 'paper' }),
  ],
  lua: [code('lua/queue.lua', 'lua', 'lua-1'), terminal('lua-2', { title: 'lua', theme: 'paper' })],
  elixir: [code('elixir/crew.exs', 'elixir', 'elixir-1', { theme: 'plum' }), terminal('elixir-2', { title: 'iex' })],
  nodejs: [
    code('nodejs/tide.test.js', 'javascript', 'nodejs-1', { theme: 'forest' }),
    terminal('nodejs-2', { title: 'node' }),
  ],
  typescript: [
    code('typescript/voyage-fixed.ts', 'typescript', 'typescript-2', { title: 'harbours.ts' }),
    terminal('typescript-1', { title: 'tsc — type errors', theme: 'paper' }),
  ],
  postgresql: [
    terminal('postgresql-1', { title: 'psql — window functions' }),
    terminal('postgresql-2', { title: 'psql — explain, json, full text', theme: 'paper' }),
  ],
  sqlite: [terminal('sqlite-1', { title: 'log.db', theme: 'paper' }), terminal('sqlite-2', { title: 'sqlite3' })],
  redis: [
    terminal('redis-1', { title: 'redis-cli — sorted sets' }),
    terminal('redis-2', { title: 'redis-cli — streams and places', theme: 'plum' }),
  ],
  vim: [screen('vim-1', { title: 'vim' }), screen('vim-2', { title: 'vim — help beside the code', theme: 'forest' })],
  neovim: [
    screen('neovim-1', { title: 'nvim init.lua' }),
    screen('neovim-2', { title: 'nvim — code and terminal', theme: 'forest' }),
  ],
  curl: [terminal('curl-1', { title: 'curl' }), terminal('curl-2', { title: 'curl -v', theme: 'paper' })],
  fish: [screen('fish-1', { title: 'fish' }), screen('fish-2', { title: 'fish — completions', theme: 'plum' })],
  jq: [terminal('jq-1', { title: 'jq — group and reshape' }), terminal('jq-2', { title: 'jq', theme: 'paper' })],
  ripgrep: [
    terminal('ripgrep-1', { title: 'rg' }),
    terminal('ripgrep-2', { title: 'rg — counts and statistics', theme: 'paper' }),
  ],
  tmux: [
    screen('tmux-1', { title: 'tmux — three panes' }),
    screen('tmux-2', { title: 'tmux — key list', theme: 'forest' }),
  ],
  htop: [screen('htop-1', { title: 'htop' }), screen('htop-2', { title: 'htop — setup', theme: 'forest' })],
  ffmpeg: [{ picture: 'recordings/ffmpeg-2.png' }, terminal('ffmpeg-1', { title: 'ffprobe and ffmpeg' })],
  imagemagick: [
    { picture: 'recordings/imagemagick-1.png' },
    terminal('imagemagick-2', { title: 'identify and convert', theme: 'plum' }),
  ],
  nginx: [
    code('nginx/nginx.conf', 'nginx', 'nginx-1', { title: 'nginx.conf' }),
    terminal('nginx-2', { title: 'nginx — status and log', theme: 'paper' }),
  ],
  ansible: [
    code('ansible/playbook.yml', 'yaml', undefined, { title: 'playbook.yml', theme: 'paper' }),
    terminal('ansible-1', { title: 'ansible-playbook' }),
    terminal('ansible-2', { title: 'ansible-playbook --check --diff', theme: 'plum' }),
  ],
  hugo: [{ scene: 'recordings/hugo-2.html' }, terminal('hugo-1', { title: 'hugo — 50 pages' })],
  eleventy: [{ scene: 'recordings/eleventy-2.html' }, terminal('eleventy-1', { title: 'eleventy' })],
  sass: [
    code('sass/theme.scss', 'scss', 'sass-1', { title: 'theme.scss', theme: 'plum' }),
    terminal('sass-2', { title: 'sass — an error, explained', theme: 'paper' }),
  ],
  vite: [
    terminal('vite-1', { title: 'vite build', theme: 'plum' }),
    screen('vite-2', { title: 'vite', theme: 'paper' }),
  ],
  eslint: [
    code('eslint/tides.js', 'javascript', undefined, { title: 'tides.js', theme: 'paper' }),
    terminal('eslint-1', { title: 'eslint' }),
    terminal('eslint-2', { title: 'eslint --fix', theme: 'plum' }),
  ],
  prettier: [
    code('prettier/tide-table.jsx', 'jsx', 'prettier-1', { title: 'before and after' }),
    terminal('prettier-2', { title: 'prettier --write', theme: 'paper' }),
  ],
  express: [
    code('express/server.mjs', 'javascript', 'express-1', { title: 'server.mjs' }),
    terminal('express-2', { title: 'express', theme: 'paper' }),
  ],
  fastify: [
    code('fastify/server.mjs', 'javascript', undefined, { title: 'server.mjs' }),
    terminal('fastify-1', { title: 'schema validation', theme: 'paper' }),
    terminal('fastify-2', { title: 'log and routes' }),
  ],
  graphviz: [scene('graphviz-1.js'), scene('graphviz-2.js'), terminal('graphviz-2', { title: 'dot', theme: 'forest' })],
  r: [{ picture: 'recordings/r-2.png' }, { picture: 'recordings/r-3.png' }, terminal('r-1', { title: 'Rscript' })],
  matplotlib: [{ picture: 'recordings/matplotlib-1.png' }, { picture: 'recordings/matplotlib-2.png' }],
  'scikit-learn': [
    { picture: 'recordings/scikit-learn-1.png' },
    code('scikit-learn/report.py', 'python', 'scikit-learn-2', { title: 'report.py', theme: 'paper' }),
  ],
  react: [scene('react-1.jsx'), code('react/tides.jsx', 'jsx', 'react-2', { title: 'tides.jsx' })],
  vue: [scene('vue-1.js'), code('vue/tides.js', 'javascript', 'vue-2', { title: 'tides.js', theme: 'forest' })],
  svelte: [
    scene('svelte-1.js'),
    code('svelte/Counter.svelte', 'svelte', 'svelte-2', { title: 'Counter.svelte, compiled' }),
  ],
  threejs: [scene('threejs-1.js'), scene('threejs-2.js')],
  babylonjs: [scene('babylonjs-1.js'), scene('babylonjs-2.js')],
  phaser: [scene('phaser-1.js'), scene('phaser-2.js')],
  p5js: [scene('p5js-1.js'), scene('p5js-2.js')],
  'matter-js': [scene('matter-js-1.js'), scene('matter-js-2.js')],
  'apache-echarts': [scene('apache-echarts-1.js'), scene('apache-echarts-2.js')],
  chartjs: [scene('chartjs-1.js'), scene('chartjs-2.js')],
  d3: [scene('d3-1.js'), scene('d3-2.js')],
  'vega-lite': [scene('vega-lite-1.js'), scene('vega-lite-2.js')],
  leaflet: [scene('leaflet-1.js'), scene('leaflet-2.js')],
  openlayers: [scene('openlayers-1.js'), scene('openlayers-2.js')],
  mermaid: [scene('mermaid-1.js'), scene('mermaid-2.js')],
  codemirror: [scene('codemirror-1.js'), scene('codemirror-2.js')],
  'monaco-editor': [scene('monaco-editor-1.js'), scene('monaco-editor-2.js')],
  'swagger-ui': [scene('swagger-ui-1.html'), scene('swagger-ui-1.html', { act: openOperation })],
  graphql: [
    scene('graphql.jsx', { act: runQuery }),
    scene('graphql.jsx', { query: '?theme=dark', dark: true, act: exploreSchema }),
  ],
  excalidraw: [
    scene('excalidraw.jsx', { waitMs: 3500 }),
    scene('excalidraw.jsx', { query: '?theme=dark', waitMs: 3500 }),
  ],
  blockly: [scene('blockly.js'), scene('blockly.js', { query: '?second' })],
  'reveal-js': [scene('reveal-js.js'), scene('reveal-js.js', { query: '?second' })],
  katex: [scene('katex.js'), scene('katex.js', { query: '?second' })],
  bootstrap: [scene('bootstrap-1.html'), scene('bootstrap-2.html')],
  bulma: [scene('bulma-1.html'), scene('bulma-2.html')],
  'tailwind-css': [scene('tailwind-css-1.html'), scene('tailwind-css-2.html')],
  'tensorflow-js': [scene('tensorflow-js-1.js'), scene('tensorflow-js-2.js')],
  'node-red': [capture('node-red-1'), capture('node-red-2')],
  jupyter: [capture('jupyter-1'), capture('jupyter-2')],
  django: [capture('django-1'), capture('django-2'), terminal('django-3', { title: 'manage.py' })],
  playwright: [
    capture('playwright-1'),
    capture('playwright-2'),
    terminal('playwright-3', { title: 'playwright test' }),
  ],
};
