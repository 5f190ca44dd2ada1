import * as tf from '@tensorflow/tfjs';

// The decision surface of a network on two spirals, at four stages of its training.
globalThis.sceneReady = false;
await tf.setBackend('cpu');
const app = document.querySelector('#app');
app.style.cssText =
  'display:grid;grid-template-columns:1fr 1fr;gap:18px;padding:26px;background:#1b120a;color:#ffe9cf;font:18px Liberation Sans;height:800px';
let seed = 5;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const points = Array.from({ length: 320 }, (_, i) => {
  const arm = i % 2;
  const t = (i / 320) * 5.4 + 0.4;
  const r = t / 6.2;
  return {
    arm,
    x: r * Math.cos(t + arm * Math.PI) + (random() - 0.5) * 0.06,
    y: r * Math.sin(t + arm * Math.PI) + (random() - 0.5) * 0.06,
  };
});
const model = tf.sequential({
  layers: [
    tf.layers.dense({
      inputShape: [2],
      units: 28,
      activation: 'relu',
      kernelInitializer: tf.initializers.heNormal({ seed: 2 }),
    }),
    tf.layers.dense({ units: 28, activation: 'relu', kernelInitializer: tf.initializers.heNormal({ seed: 3 }) }),
    tf.layers.dense({ units: 1, activation: 'sigmoid' }),
  ],
});
model.compile({ optimizer: tf.train.adam(0.012), loss: 'binaryCrossentropy', metrics: ['accuracy'] });
const xs = tf.tensor2d(points.map((p) => [p.x, p.y]));
const ys = tf.tensor2d(points.map((p) => [p.arm]));
const [w, h] = [101, 57];
const cells = Array.from({ length: w * h }, (_, i) => [
  ((i % w) / (w - 1) - 0.5) * 3.4,
  (Math.floor(i / w) / (h - 1) - 0.5) * 2,
]);
let epochs = 0;
for (const more of [4, 16, 50, 130]) {
  const { history } = await model.fit(xs, ys, { epochs: more, batchSize: 32, verbose: 0 });
  epochs += more;
  const surface = model.predict(tf.tensor2d(cells)).dataSync();
  const canvas = Object.assign(document.createElement('canvas'), { width: 606, height: 342 });
  const pen = canvas.getContext('2d');
  cells.forEach((_, i) => {
    const v = surface[i];
    pen.fillStyle = `rgb(${40 + 215 * v},${90 + 55 * v},${170 - 150 * v})`;
    pen.fillRect((i % w) * 6, Math.floor(i / w) * 6, 6, 6);
  });
  for (const p of points) {
    pen.fillStyle = p.arm ? '#ff8f00' : '#2f6fe0';
    pen.strokeStyle = '#fff';
    pen.beginPath();
    pen.arc((p.x / 3.4 + 0.5) * 606, (p.y / 2 + 0.5) * 342, 4.6, 0, 7);
    pen.fill();
    pen.stroke();
  }
  const figure = document.createElement('div');
  canvas.style.cssText = 'width:100%;border-radius:12px;display:block';
  figure.append(
    canvas,
    Object.assign(document.createElement('div'), {
      textContent: `epoch ${epochs}   accuracy ${((history.acc ?? history.accuracy).at(-1) * 100).toFixed(0)} %`,
      style: 'margin-top:7px',
    }),
  );
  app.append(figure);
}
globalThis.sceneReady = true;
