import embed from 'vega-embed';

globalThis.sceneReady = false;
const ports = ['Bergen', 'Oban', 'Brest', 'Cádiz', 'Lagos', 'Porto'];
const values = ports.flatMap((port, p) =>
  Array.from({ length: 365 }, (_, day) => ({
    port,
    date: new Date(2025, 0, 1 + day).toISOString(),
    temp:
      15 +
      p * 1.6 -
      9 * Math.cos(((day - 25) / 365) * 6.28) * (1.3 - p * 0.14) +
      2.2 * Math.sin(day * 1.7 + p * 3) +
      1.5 * Math.sin(day * 0.31 + p),
  })),
);
document.querySelector('#app').style.cssText = 'display:grid;place-items:center;background:#10182b';
embed(
  '#app',
  {
    data: { values },
    title: {
      text: 'Daily temperatures, simulated for six harbours',
      fontSize: 26,
      anchor: 'start',
      offset: 18,
      color: '#fff',
    },
    facet: {
      row: {
        field: 'port',
        type: 'nominal',
        title: null,
        sort: ports,
        header: { labelAngle: 0, labelAlign: 'left', labelFontSize: 18, labelColor: '#fff' },
      },
    },
    spacing: 8,
    spec: {
      mark: 'rect',
      width: 1010,
      height: 90,
      encoding: {
        x: {
          field: 'date',
          timeUnit: 'dayofyear',
          type: 'temporal',
          title: null,
          axis: { format: '%b', tickCount: 'month', labelFontSize: 15, domain: false, ticks: false },
        },
        color: {
          field: 'temp',
          type: 'quantitative',
          aggregate: 'mean',
          title: '°C',
          scale: { scheme: 'spectral', reverse: true },
        },
      },
    },
    config: {
      background: '#10182b',
      view: { stroke: null },
      axis: { labelColor: '#c5cde3', grid: false },
      legend: { labelColor: '#c5cde3', titleColor: '#fff', gradientLength: 420, labelFontSize: 14 },
    },
  },
  { actions: false },
).then(() => {
  globalThis.sceneReady = true;
});
