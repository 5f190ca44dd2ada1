import * as monaco from 'monaco-editor';

const worker = (label) => (/script/.test(label) ? 'language/typescript/ts.worker.js' : 'editor/editor.worker.js');
globalThis.MonacoEnvironment = { getWorker: (_, label) => new Worker(`/worker/monaco-editor/esm/vs/${worker(label)}`) };
const before = `const fs = require('fs');

function readTides(file, callback) {
  fs.readFile(file, 'utf8', function (error, text) {
    if (error) {
      callback(error);
      return;
    }
    var tides = JSON.parse(text);
    callback(null, tides.filter(function (t) {
      return t.metres > 3;
    }));
  });
}

module.exports = readTides;
`;
const after = `import { readFile } from 'node:fs/promises';

/** Reads the tides of a file that are higher than a limit. */
export async function readTides(file, limit = 3) {
  const text = await readFile(file, 'utf8');
  const tides = JSON.parse(text);
  return tides.filter((tide) => tide.metres > limit);
}
`;
const app = document.querySelector('#app');
monaco.editor.setTheme('vs');
const diff = monaco.editor.createDiffEditor(app, {
  fontSize: 18,
  fontFamily: 'DejaVu Sans Mono',
  lineHeight: 29,
  renderSideBySide: true,
  readOnly: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  diffAlgorithm: 'legacy',
  useInlineViewWhenSpaceIsLimited: false,
});
diff.setModel({
  original: monaco.editor.createModel(before, 'javascript'),
  modified: monaco.editor.createModel(after, 'javascript'),
});
