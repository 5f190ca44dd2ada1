import { autocompletion, completeFromList, startCompletion } from '@codemirror/autocomplete';
import { javascript } from '@codemirror/lang-javascript';
import { oneDark } from '@codemirror/theme-one-dark';
import { basicSetup, EditorView } from 'codemirror';

const doc = `import { EditorView, basicSetup } from 'codemirror';
import { javascript } from '@codemirror/lang-javascript';

/** Draws the tide of one day as a row of bars. */
export function drawTide(canvas, harbour) {
  const pen = canvas.getContext('2d');
  const hours = Array.from({ length: 24 }, (_, hour) => hour);

  for (const hour of hours) {
    const height = harbour.range * Math.cos((hour / 12.42) * 2 * Math.PI);
    pen.fillStyle = height > 0 ? '#3aa0d8' : '#d9b36c';
    pen.fillRect(hour * 20, 100, 16, -height * 12);
  }
  return hours.map((hour) => \`\${hour}:00\`).fi
}

const view = new EditorView({
  extensions: [basicSetup, javascript()],
  parent: document.body,
});
`;
const at = doc.indexOf('.fi\n') + 3;
const words = ['filter', 'find', 'findIndex', 'findLast', 'fill'].map((label) => ({
  label,
  type: 'method',
  detail: 'Array',
}));
const view = new EditorView({
  doc,
  selection: { anchor: at },
  parent: document.querySelector('#app'),
  extensions: [
    basicSetup,
    javascript(),
    oneDark,
    autocompletion({ override: [completeFromList(words)], activateOnTyping: false }),
    EditorView.theme({
      '&': { height: '800px', fontSize: '21px' },
      '.cm-scroller': { fontFamily: 'DejaVu Sans Mono', lineHeight: '1.58' },
      '.cm-content': { padding: '18px 0' },
    }),
  ],
});
view.focus();
startCompletion(view);
