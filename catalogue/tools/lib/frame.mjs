import { readFileSync } from 'node:fs';
import { codeToHtml } from 'shiki';
import { ansiToHtml, escapeHtml, plainText } from './ansi.mjs';
import { themes } from './themes.mjs';

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
pre{margin:0;font-family:Mono,'DejaVu Sans Mono',monospace;font-variant-ligatures:none;white-space:pre-wrap;overflow-wrap:anywhere;word-break:break-all;overflow:hidden}pre.shiki{white-space:pre}
.code{padding:24px 0 24px 26px}pre.rule{padding:18px 32px 24px}pre.side{padding:24px 24px;background:color-mix(in srgb,var(--bar) 60%,transparent);border-left:1px solid color-mix(in srgb,var(--mute) 25%,transparent)}
.prompt{color:var(--accent);font-weight:700}.typed{font-weight:650}.rule{border-top:1px solid color-mix(in srgb,var(--mute) 30%,transparent)}
.shiki{background:none!important}.n{color:var(--mute);opacity:.6;user-select:none}`;

const bodyHeight = 640;
const bodyWidth = 1136;

/** Returns the largest font size, in pixels, at which this many columns and lines fit into the window. */
function typeSize(columns, lines, height = bodyHeight) {
  const size = Math.min((bodyWidth - 64) / (columns * 0.6), (height - 48) / (lines * 1.4), 27);
  return Math.round(Math.max(size, 11) * 4) / 4;
}

const rowsAt = (lines, columns) =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil([...plainText(line)].length / columns)), 0);

/** Finds the column at which lines wrap so that `sizeAt(columns, rows)`, the font size, is largest. */
function bestWrap(lines, sizeAt) {
  let best = { columns: widest(lines), size: 0 };
  for (const columns of [widest(lines), 120, 108, 96, 84, 72, 60, 50, 42]) {
    const size = sizeAt(columns, rowsAt(lines, columns));
    if (columns <= widest(lines) && size > best.size * 1.04) best = { columns, size };
  }
  return best;
}

const widest = (lines) => Math.max(...lines.map((line) => [...plainText(line)].length), 24);

/** Reads the lines of a recording. Those of a whole screen omit the first line, which is the command. */
function recordedLines(file, screen) {
  const lines = readFileSync(new URL(`../recordings/${file}`, import.meta.url), 'utf8')
    .replaceAll('\t', '    ')
    .trimEnd()
    .split('\n');
  return screen ? lines.slice(1) : lines;
}

function terminalHtml(lines) {
  // Colours may continue on the next line, so the whole text is converted at once. Then the prompts are marked.
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

/** Returns the page of a framed terminal or editor. `shot` has { recording, screen?, code?, lang?, theme?, title? }. */
export async function framePage(product, shot) {
  const theme = themes[shot.theme ?? 'night'];
  const [from, to] = product.tile.colors;
  const accent = product.tile.accent ?? (shot.theme === 'paper' ? to : from);
  let body = '';
  let title = shot.title ?? product.name;
  if (shot.code) {
    const { html, lines } = await codeHtml(shot.code, shot.lang, theme);
    title = shot.title ?? shot.code.split('/').at(-1);
    const output = shot.recording ? recordedLines(shot.recording, false) : [];
    const code = widest(lines) + 5;
    const gap = output.length ? 3 : 0;
    const below = bestWrap(output, (columns, rows) => typeSize(Math.max(code, columns), lines.length + rows + gap));
    const beside = bestWrap(output, (columns, rows) => typeSize(code + columns + 6, Math.max(lines.length, rows)));
    const side = output.length > 0 && beside.size > below.size;
    const { size, columns } = side ? beside : below;
    const split = output.length && side ? `display:grid;grid-template-columns:${code + 1}fr ${columns + 3}fr` : '';
    const printed = output.length ? `<pre class="${side ? 'side' : 'rule'}">${terminalHtml(output)}</pre>` : '';
    body = `<div style="${split};min-height:420px;font-size:${size}px;line-height:1.4"><div class="code">${html}</div>${printed}</div>`;
  } else {
    const lines = recordedLines(shot.recording, shot.screen);
    const { size, columns } = shot.screen
      ? { size: typeSize(widest(lines), lines.length), columns: widest(lines) }
      : bestWrap(lines, typeSize);
    const content = shot.screen ? ansiToHtml(lines.join('\n')) : terminalHtml(lines);
    const line = shot.screen ? 1.32 : 1.4;
    body = `<pre style="padding:24px 32px;max-width:calc(${columns + 0.4}ch + 64px);min-height:420px;font-size:${size}px;line-height:${line}">${content}</pre>`;
  }
  const palette = theme.a.map((color, index) => `--a${index}:${color}`).join(';');
  const backdrop = `radial-gradient(120% 90% at 12% 0%,color-mix(in srgb,${from} 70%,white) 0%,${from} 38%,${to} 100%)`;
  return `<!doctype html><meta charset="utf-8"><style>${baseStyle}</style><body style="background:${backdrop};--ground:${theme.ground};--ink:${theme.ink};--bar:${theme.bar};--mute:${theme.mute};--accent:${brighter(accent, shot.theme)};${palette}"><div class="window"><div class="bar"><i class="on"></i><i></i><i></i><span>${escapeHtml(title)}</span></div>${body}</div>`;
}

/** Returns a variant of the accent that is legible on the background of the frame. */
const brighter = (color, theme) =>
  theme === 'paper' ? `color-mix(in srgb,${color} 80%,black)` : `color-mix(in srgb,${color} 55%,white)`;
