import * as tf from '@tensorflow/tfjs';
import * as tfvis from '@tensorflow/tfjs-vis';

// Fits a noisy wave with a small network and draws the data, the fit and the loss curve.
globalThis.sceneReady = false;
await tf.setBackend('cpu');
const app = document.querySelector('#app');
app.style.cssText =
  'display:grid;grid-template-columns:1.35fr 1fr;gap:24px;padding:36px;background:#fff8ef;font-family:Liberation Sans;height:800px';
const card = (title) => {
  const box = document.createElement('div');
  box.style.cssText =
    'background:#fff;border-radius:16px;padding:22px 26px;box-shadow:0 4px 18px #7a3a0018;min-width:0';
  box.innerHTML = `<b style="font-size:22px">${title}</b><div></div>`;
  app.append(box);
  return box.lastChild;
};
const left = card('A noisy wave and what the network made of it');
const side = document.createElement('div');
side.style.cssText = 'display:grid;gap:24px;grid-template-rows:1fr 1fr;min-width:0';
const right = card('Loss by epoch');
const layers = card('Layers');
app.append(side);
side.append(right.parentNode, layers.parentNode);
let seed = 7;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const points = Array.from({ length: 220 }, () => {
  const x = random() * 2 - 1;
  return { x, y: Math.sin(x * 5) * 0.7 + (random() - 0.5) * 0.35 };
});
const model = tf.sequential({
  layers: [
    tf.layers.dense({ inputShape: [1], units: 24, activation: 'tanh' }),
    tf.layers.dense({ units: 24, activation: 'tanh' }),
    tf.layers.dense({ units: 1 }),
  ],
});
model.compile({ optimizer: tf.train.adam(0.02), loss: 'meanSquaredError' });
const xs = tf.tensor2d(points.map((p) => [p.x]));
const ys = tf.tensor2d(points.map((p) => [p.y]));
const { history } = await model.fit(xs, ys, { epochs: 90, batchSize: 32, verbose: 0 });
const grid = Array.from({ length: 160 }, (_, i) => -1 + (i / 159) * 2);
const fitted = [...model.predict(tf.tensor2d(grid.map((x) => [x]))).dataSync()].map((y, i) => ({ x: grid[i], y }));
const look = { fontSize: 15, xLabel: 'x', yLabel: 'y' };
await tfvis.render.scatterplot(
  left,
  { values: [points, fitted], series: ['data', 'model'] },
  { ...look, width: 620, height: 600, zoomToFit: true },
);
await tfvis.render.linechart(
  right,
  { values: [history.loss.map((y, x) => ({ x, y }))], series: ['loss'] },
  { ...look, xLabel: 'epoch', yLabel: 'loss', width: 400, height: 240 },
);
await tfvis.show.modelSummary(layers, model);
globalThis.sceneReady = true;
