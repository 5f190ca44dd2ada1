import embed from 'vega-embed';

globalThis.sceneReady = false;
let seed = 9;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const kinds = ['dinghy', 'yacht', 'trawler', 'ferry'];
const values = Array.from({ length: 420 }, () => {
  const k = Math.floor(random() * 4);
  const length = 6 + k * 9 + (random() + random()) * 7;
  return {
    kind: kinds[k],
    length,
    speed: 4 + k * 3.2 + (random() + random() - 1) * 4 + length * 0.08,
    built: 1960 + Math.floor(random() * 65),
  };
});
const color = { field: 'kind', type: 'nominal', scale: { range: ['#4c78a8', '#f58518', '#54a24b', '#e45756'] } };
const x = { field: 'length', type: 'quantitative', title: 'length (m)' };
document.querySelector('#app').style.cssText = 'display:grid;place-items:center;background:#fff';
embed(
  '#app',
  {
    data: { values },
    title: { text: 'Boats of an invented harbour', fontSize: 26, anchor: 'start', offset: 18 },
    spacing: 16,
    bounds: 'flush',
    vconcat: [
      {
        mark: { type: 'area', interpolate: 'monotone', opacity: 0.6 },
        width: 830,
        height: 90,
        transform: [{ density: 'length', groupby: ['kind'] }],
        encoding: {
          x: { field: 'value', type: 'quantitative', axis: null },
          y: { field: 'density', type: 'quantitative', axis: null, stack: null },
          color,
        },
      },
      {
        spacing: 16,
        bounds: 'flush',
        hconcat: [
          {
            mark: { type: 'point', filled: true, opacity: 0.75 },
            width: 830,
            height: 460,
            encoding: {
              x,
              y: { field: 'speed', type: 'quantitative', title: 'speed (knots)', scale: { zero: false } },
              color,
              size: { field: 'built', type: 'quantitative', bin: { maxbins: 5 }, scale: { range: [30, 190] } },
            },
          },
          {
            mark: 'bar',
            width: 110,
            height: 460,
            encoding: {
              y: { field: 'speed', bin: { maxbins: 26 }, type: 'quantitative', axis: null },
              x: { aggregate: 'count', title: 'boats' },
              color,
            },
          },
        ],
      },
    ],
    config: {
      axis: { labelFontSize: 14, titleFontSize: 16, grid: true, gridColor: '#eef1f4' },
      legend: { labelFontSize: 15, titleFontSize: 15 },
      view: { stroke: '#dde3ea' },
    },
  },
  { actions: false },
).then(() => {
  globalThis.sceneReady = true;
});
