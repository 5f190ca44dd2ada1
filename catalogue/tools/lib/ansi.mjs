const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
export const escapeHtml = (text) => text.replace(/[&<>]/g, (char) => escapes[char]);

/** Returns a colour of the xterm palette by its number, 0 to 255. The theme of the frame defines 0 to 15. */
function indexed(index) {
  if (index < 16) return `var(--a${index})`;
  if (index > 231) return `rgb(${[0, 0, 0].map(() => 8 + (index - 232) * 10)})`;
  const level = (value) => (value === 0 ? 0 : 55 + value * 40);
  const cube = index - 16;
  return `rgb(${level(Math.floor(cube / 36))},${level(Math.floor(cube / 6) % 6)},${level(cube % 6)})`;
}

function extended(codes, at) {
  if (codes[at] === 5) return [indexed(codes[at + 1]), 2];
  return [`rgb(${codes.slice(at + 1, at + 4)})`, 4];
}

function apply(style, codes) {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at];
    if (code === 0) for (const key of Object.keys(style)) delete style[key];
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 7) style.reverse = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code === 27) style.reverse = false;
    else if (code >= 30 && code <= 37) style.color = indexed(code - 30);
    else if (code >= 90 && code <= 97) style.color = indexed(code - 82);
    else if (code >= 40 && code <= 47) style.ground = indexed(code - 40);
    else if (code >= 100 && code <= 107) style.ground = indexed(code - 92);
    else if (code === 39) style.color = undefined;
    else if (code === 49) style.ground = undefined;
    else if (code === 38 || code === 48) {
      const [value, used] = extended(codes, at + 1);
      style[code === 38 ? 'color' : 'ground'] = value;
      at += used;
    }
  }
}

function css(style) {
  let [color, ground] = [style.color, style.ground];
  if (style.reverse) [color, ground] = [ground ?? 'var(--ground)', color ?? 'var(--ink)'];
  return [
    color && `color:${color}`,
    ground && `background:${ground}`,
    style.bold && 'font-weight:700',
    style.dim && 'opacity:.65',
    style.italic && 'font-style:italic',
    style.underline && 'text-decoration:underline',
  ]
    .filter(Boolean)
    .join(';');
}

/** Converts text with ANSI colours to HTML. Removes other control sequences. */
export function ansiToHtml(text) {
  const style = {};
  let html = '';
  for (const piece of text.split(/(\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\r|\x0f)/)) {
    const sgr = /^\x1b\[([0-9;:]*)m$/.exec(piece);
    if (sgr) apply(style, (sgr[1] || '0').split(/[;:]/).map(Number));
    else if (piece && !/^[\x1b\r\x0f]/.test(piece)) {
      const rules = css(style);
      html += rules ? `<span style="${rules}">${escapeHtml(piece)}</span>` : escapeHtml(piece);
    }
  }
  return html;
}

/** Removes colours and other control sequences, so the text can be measured. */
export const plainText = (text) =>
  text.replace(/\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()].|\r|\x0f/g, '');
