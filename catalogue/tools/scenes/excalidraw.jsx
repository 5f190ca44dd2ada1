import { convertToExcalidrawElements, Excalidraw } from '@excalidraw/excalidraw';
import '@excalidraw/excalidraw/index.css';
import { createRoot } from 'react-dom/client';

globalThis.EXCALIDRAW_ASSET_PATH = '/node_modules/@excalidraw/excalidraw/dist/prod/';
const dark = new URLSearchParams(location.search).get('theme') === 'dark';
const box = (id, x, y, text, color, more) => ({
  type: 'rectangle',
  id,
  x,
  y,
  width: 190,
  height: 84,
  strokeWidth: 2,
  fillStyle: 'hachure',
  backgroundColor: color,
  roundness: { type: 3 },
  label: { text, fontSize: 22 },
  ...more,
});
const arrow = (from, to, text) => ({
  type: 'arrow',
  x: 0,
  y: 0,
  strokeWidth: 2,
  start: { id: from },
  end: { id: to },
  ...(text && { label: { text, fontSize: 18 } }),
});
const between = (x, y, width, height, text) => ({
  type: 'arrow',
  x,
  y,
  width,
  height,
  points: [
    [0, 0],
    [width, height],
  ],
  strokeWidth: 2,
  ...(text && { label: { text, fontSize: 18 } }),
});
void arrow;
const plan = [
  { type: 'text', x: 60, y: 20, text: 'How a tide reaches the screen', fontSize: 36, strokeColor: '#4a45b0' },
  box('buoy', 60, 140, 'Buoy', '#a5d8ff', { type: 'ellipse', height: 110 }),
  box('queue', 360, 152, 'Queue', '#ffec99'),
  box('store', 680, 152, 'Database', '#b2f2bb'),
  box('check', 360, 340, 'Plausible?', '#ffc9c9', { type: 'diamond', width: 190, height: 130 }),
  box('page', 680, 362, 'Web page', '#eebefa'),
  box('bin', 60, 362, 'Log & drop', '#e9ecef', { strokeStyle: 'dashed' }),
  between(255, 195, 95, 0, 'radio'),
  between(455, 242, 0, 92),
  between(552, 400, 118, -155, 'yes'),
  between(352, 405, -92, 0, 'no'),
  between(775, 242, 0, 112, 'live'),
  { type: 'text', x: 690, y: 470, text: '← 40 ms!', fontSize: 26, strokeColor: '#e03131' },
  {
    type: 'line',
    x: 60,
    y: 520,
    width: 800,
    height: 0,
    points: [
      [0, 0],
      [130, -20],
      [270, 18],
      [400, -18],
      [540, 20],
      [680, -14],
      [800, 8],
    ],
    strokeColor: '#1971c2',
    strokeWidth: 4,
  },
];
const sketch = [
  { type: 'text', x: 80, y: 10, text: 'Sign-up screen, third try', fontSize: 34, strokeColor: '#6741d9' },
  { type: 'rectangle', x: 60, y: 80, width: 300, height: 470, strokeWidth: 2, roundness: { type: 3 } },
  { type: 'ellipse', x: 170, y: 110, width: 80, height: 80, backgroundColor: '#ffd8a8', fillStyle: 'cross-hatch' },
  box('a', 95, 220, 'name', '#ffffff', { width: 230, height: 54 }),
  box('b', 95, 295, 'e-mail', '#ffffff', { width: 230, height: 54 }),
  box('c', 95, 400, 'Join the wave', '#b197fc', { width: 230, height: 64, fillStyle: 'solid' }),
  box('n1', 470, 100, 'Do we need\nthe e-mail at all?', '#fff3bf', { width: 250, height: 120, fillStyle: 'solid' }),
  box('n2', 760, 170, 'One colour\nper button kind', '#d3f9d8', { width: 220, height: 120, fillStyle: 'solid' }),
  box('n3', 520, 310, 'Test with five\npeople on Friday', '#ffdeeb', { width: 250, height: 120, fillStyle: 'solid' }),
  between(465, 170, -130, 140),
  between(755, 240, -420, 190),
  { type: 'text', x: 560, y: 480, text: '✔ agreed: no password', fontSize: 28, strokeColor: '#2f9e44' },
];
const app = document.querySelector('#app');
app.style.height = '800px';
globalThis.sceneReady = false;

// Waits for the hand-drawn font before it creates the elements, because their text is measured when they are created.
async function draw(api) {
  await new Promise((resolve) => setTimeout(resolve, 1200));
  await document.fonts.load('20px Excalifont', 'Tide');
  const elements = convertToExcalidrawElements(dark ? sketch : plan);
  api.updateScene({ elements });
  api.scrollToContent(elements, { fitToViewport: true, viewportZoomFactor: 0.78, animate: false });
  globalThis.sceneReady = true;
}

createRoot(app).render(
  <Excalidraw
    theme={dark ? 'dark' : 'light'}
    excalidrawAPI={draw}
    initialData={{ appState: { viewBackgroundColor: '#ffffff' } }}
  />,
);
