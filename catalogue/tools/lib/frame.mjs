import { readFileSync } from 'node:fs';
import { codeToHtml } from 'shiki';
import { ansiToHtml, escapeHtml, plainText } from './ansi.mjs';

const themes = {
  night: {
    ground: '#10151f',
    ink: '#dfe6ee',
    bar: '#1a2130',
    mute: '#8793a6',
    code: 'github-dark-default',
    a: [
      '#2b3444',
      '#ff7b86',
      '#7ee0a1',
      '#f2cc7b',
      '#7ab7ff',
      '#d6a4ff',
      '#6fdfe6',
      '#d4dbe6',
      '#6b788d',
      '#ff9aa2',
      '#9df0b9',
      '#ffdf9e',
      '#a3cdff',
      '#e4c3ff',
      '#9af0f4',
      '#ffffff',
    ],
  },
  plum: {
    ground: '#1d1527',
    ink: '#eae2f4',
    bar: '#2a1f38',
    mute: '#a493b8',
    code: 'catppuccin-mocha',
    a: [
      '#3b2d4d',
      '#ff7f9f',
      '#95e6a8',
      '#f7d27e',
      '#8db4ff',
      '#e29bf5',
      '#7fe3df',
      '#ddd2ea',
      '#7d6b92',
      '#ff9fb8',
      '#b4f2c2',
      '#ffe3a6',
      '#b0ccff',
      '#efc1fb',
      '#a9f0ec',
      '#ffffff',
    ],
  },
  forest: {
    ground: '#0e1a17',
    ink: '#dcebe4',
    bar: '#16271f',
    mute: '#84a296',
    code: 'everforest-dark',
    a: [
      '#27413a',
      '#f58b7c',
      '#8fdc8a',
      '#e6cf7a',
      '#7cc4e8',
      '#d7a6d9',
      '#72dcc4',
      '#cfe0d8',
      '#64857a',
      '#ffa99c',
      '#aef0a8',
      '#f6e3a0',
      '#a2dbf5',
      '#e9c5ea',
      '#9aeedb',
      '#ffffff',
    ],
  },
  paper: {
    ground: '#fdfcf9',
    ink: '#22303c',
    bar: '#f0ede5',
    mute: '#7b7c78',
    code: 'github-light-default',
    a: [
      '#22303c',
      '#c22f3d',
      '#1b7f46',
      '#946200',
      '#1f5fbf',
      '#8c3fb3',
      '#0b7a85',
      '#5d6670',
      '#8a8f94',
      '#d94452',
      '#23995a',
      '#b07a0b',
      '#3a7ade',
      '#a556cc',
      '#1597a3',
      '#22303c',
    ],
  },
}; // prettier-ignore

const face = (file) => `url(/node_modules/@fontsource-variable/${file})`;
const baseStyle = `
@font-face{font-family:Mono;src:${face('jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2')};font-weight:100 800}
@font-face{font-family:Sans;src:${face('inter/files/inter-latin-wght-normal.woff2')};font-weight:100 900}
*{box-sizing:border-box}html,body{margin:0;width:1280px;height:800px;overflow:hidden}
body{display:flex;align-items:center;justify-content:center;font-family:Sans,sans-serif}
.window{width:1136px;border-radius:18px;overflow:hidden;background:var(--ground);color:var(--ink);box-shadow:0 30px 70px rgb(0 0 0/.42),0 0 0 1px rgb(255 255 255/.1)}
.bar{height:52px;display:flex;align-items:center;gap:10px;padding:0 22px;background:var(--bar);color:var(--mute);font-size:18px;font-weight:560}
.bar i{width:14px;height:14px;border-radius:50%;background:var(--mute);opacity:.45}.bar i.on{background:var(--accent);opacity:1}
.bar span{flex:1;text-align:center;margin-right:72px}
pre{margin:0;font-family:Mono,'DejaVu Sans Mono',monospace;font-variant-ligatures:none;white-space:pre;overflow:hidden}
.code{padding:24px 0 24px 26px}pre.rule{padding:18px 32px 24px}pre.side{padding:24px 24px;background:color-mix(in srgb,var(--bar) 60%,transparent);border-left:1px solid color-mix(in srgb,var(--mute) 25%,transparent)}
.prompt{color:var(--accent);font-weight:700}.typed{font-weight:650}.rule{border-top:1px solid color-mix(in srgb,var(--mute) 30%,transparent)}
.shiki{background:none!important}.n{color:var(--mute);opacity:.6;user-select:none}`;

const bodyHeight = 640;
const bodyWidth = 1136;

/** The largest type that fits so many columns and lines into the window. */
function typeSize(columns, lines, height = bodyHeight) {
  const size = Math.min((bodyWidth - 64) / (columns * 0.6), (height - 48) / (lines * 1.4), 27);
  return Math.round(Math.max(size, 11) * 4) / 4;
}

const widest = (lines) => Math.max(...lines.map((line) => [...plainText(line)].length), 24);

/** Lines of a recording; "$ command" lines are set as a prompt, and whole terminal screens go without theirs. */
function recordedLines(file, screen) {
  const lines = readFileSync(new URL(`../recordings/${file}`, import.meta.url), 'utf8')
    .replaceAll('\t', '    ')
    .trimEnd()
    .split('\n');
  return screen ? lines.slice(1) : lines;
}

function terminalHtml(lines) {
  // Colours can run over line ends, so the text is converted as a whole and prompts are marked in it.
  const html = ansiToHtml(lines.join('\n'));
  return html.replace(/^\$ (.*)$/gm, '<span class="prompt">$$</span> <span class="typed">$1</span>');
}

async function codeHtml(file, lang, theme) {
  const code = readFileSync(new URL(`../samples/${file}.txt`, import.meta.url), 'utf8')
    .replaceAll('\t', '    ')
    .trimEnd();
  const lines = code.split('\n');
  const html = await codeToHtml(code, { lang, theme: theme.code });
  let number = 0;
  const numbered = html.replace(
    /<span class="line">/g,
    () => `<span class="line"><span class="n">${String(++number).padStart(2)}  </span>`,
  );
  return { html: numbered.replace(/style="[^"]*"/, ''), lines };
}

/** HTML of a framed terminal or editor: { recording, screen?, code?, lang?, theme?, title? }. */
export async function framePage(product, shot) {
  const theme = themes[shot.theme ?? 'night'];
  const accent = product.accent ?? product.tile[shot.theme === 'paper' ? 1 : 0];
  let body = '';
  let title = shot.title ?? product.name;
  if (shot.code) {
    const { html, lines } = await codeHtml(shot.code, shot.lang, theme);
    title = shot.title ?? shot.code.split('/').at(-1);
    const output = shot.recording ? recordedLines(shot.recording, false) : [];
    const code = widest(lines) + 5;
    const rows = lines.length + output.length + (output.length ? 3 : 0);
    const below = typeSize(Math.max(code, widest(output)), rows);
    const beside = output.length ? typeSize(code + widest(output) + 6, Math.max(lines.length, output.length)) : 0;
    const size = Math.max(below, beside);
    const side = beside > below;
    const split =
      output.length && side ? `display:grid;grid-template-columns:${code + 1}fr ${widest(output) + 3}fr` : '';
    const printed = output.length ? `<pre class="${side ? 'side' : 'rule'}">${terminalHtml(output)}</pre>` : '';
    body = `<div style="${split};min-height:420px;font-size:${size}px;line-height:1.4"><div class="code">${html}</div>${printed}</div>`;
  } else {
    const lines = recordedLines(shot.recording, shot.screen);
    const size = typeSize(shot.columns ?? widest(lines), lines.length);
    const content = shot.screen ? ansiToHtml(lines.join('\n')) : terminalHtml(lines);
    const line = shot.screen ? 1.32 : 1.4;
    body = `<pre style="padding:24px 32px;min-height:420px;font-size:${size}px;line-height:${line}">${content}</pre>`;
  }
  const palette = theme.a.map((color, index) => `--a${index}:${color}`).join(';');
  const [from, to] = product.tile;
  const backdrop = `radial-gradient(120% 90% at 12% 0%,color-mix(in srgb,${from} 70%,white) 0%,${from} 38%,${to} 100%)`;
  return `<!doctype html><meta charset="utf-8"><style>${baseStyle}</style><body style="background:${backdrop};--ground:${theme.ground};--ink:${theme.ink};--bar:${theme.bar};--mute:${theme.mute};--accent:${brighter(accent, shot.theme)};${palette}"><div class="window"><div class="bar"><i class="on"></i><i></i><i></i><span>${escapeHtml(title)}</span></div>${body}</div>`;
}

/** An accent that can be read on the frame's ground. */
const brighter = (color, theme) =>
  theme === 'paper' ? `color-mix(in srgb,${color} 80%,black)` : `color-mix(in srgb,${color} 55%,white)`;
