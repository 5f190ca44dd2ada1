import * as echarts from 'echarts';

// A dashboard with an area chart, bars, a rose chart, a radar chart and a heat map of the week.
const app = document.querySelector('#app');
app.style.cssText =
  'display:grid;grid-template-columns:1.6fr 1fr 1fr;grid-template-rows:1fr 1fr;gap:18px;padding:24px;background:#0f1626';
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const title = (text) => ({ text, left: 18, top: 14, textStyle: { fontSize: 17, fontWeight: 600 } });
const wave = (phase, size) =>
  Array.from({ length: 48 }, (_, i) => Math.round(size * (1.3 + Math.sin(i / 5 + phase) + 0.4 * Math.sin(i / 2.1))));
const area = (name, phase, size) => ({
  name,
  type: 'line',
  smooth: true,
  symbol: 'none',
  areaStyle: { opacity: 0.28 },
  lineStyle: { width: 3 },
  data: wave(phase, size),
});
const grid = { left: 56, right: 24, top: 64, bottom: 36 };
const options = [
  {
    title: title('Requests per minute'),
    legend: { top: 14, right: 18 },
    grid,
    xAxis: {
      type: 'category',
      boundaryGap: false,
      data: wave(0, 1).map((_, i) => `${String(Math.floor(i / 2)).padStart(2, '0')}:${i % 2 ? '30' : '00'}`),
    },
    yAxis: { type: 'value' },
    series: [area('web', 0, 320), area('api', 1.6, 240), area('jobs', 3, 150)],
  },
  {
    title: title('Traffic by source'),
    series: [
      {
        type: 'pie',
        roseType: 'area',
        radius: ['18%', '68%'],
        center: ['50%', '57%'],
        itemStyle: { borderRadius: 7 },
        data: [
          ['Search', 44],
          ['Direct', 36],
          ['Feeds', 30],
          ['Social', 24],
          ['Mail', 18],
          ['Ads', 13],
        ].map(([name, value]) => ({ name, value })),
      },
    ],
  },
  {
    title: title('Service health'),
    radar: {
      center: ['50%', '58%'],
      radius: '62%',
      indicator: ['Latency', 'Errors', 'Traffic', 'CPU', 'Memory', 'Disk'].map((name) => ({ name, max: 100 })),
    },
    series: [
      {
        type: 'radar',
        areaStyle: { opacity: 0.25 },
        data: [{ value: [82, 92, 64, 58, 71, 88] }, { value: [60, 74, 88, 80, 46, 62] }],
      },
    ],
  },
  {
    title: title('Activity by hour'),
    grid: { ...grid, bottom: 62 },
    xAxis: { type: 'category', data: Array.from({ length: 24 }, (_, i) => i) },
    yAxis: { type: 'category', data: days },
    visualMap: {
      min: 0,
      max: 10,
      orient: 'horizontal',
      left: 'center',
      bottom: 4,
      itemHeight: 220,
      itemWidth: 12,
      inRange: { color: ['#15233d', '#1d6a96', '#3fc1a5', '#f7e15c'] },
    },
    series: [
      {
        type: 'heatmap',
        itemStyle: { borderRadius: 4, borderColor: '#16203a', borderWidth: 2 },
        data: days.flatMap((_, d) =>
          Array.from({ length: 24 }, (__, h) => [
            h,
            d,
            Math.max(0, Math.round(5 + 4 * Math.sin((h - 7) / 3.4) - (d > 4 ? 3 : 0) + ((h * 7 + d * 3) % 4))),
          ]),
        ),
      },
    ],
  },
  {
    title: title('Deploys'),
    grid,
    xAxis: { type: 'category', data: days },
    yAxis: { type: 'value' },
    series: ['ok', 'rolled back'].map((name, k) => ({
      name,
      type: 'bar',
      stack: 'a',
      barWidth: 22,
      itemStyle: { borderRadius: k ? [5, 5, 0, 0] : 0 },
      data: days.map((_, i) => (k ? (i * 3) % 4 : 8 + ((i * 5) % 9))),
    })),
  },
  {
    title: title('Budget left'),
    series: [
      {
        type: 'gauge',
        center: ['50%', '62%'],
        radius: '82%',
        progress: { show: true, width: 16 },
        axisLine: { lineStyle: { width: 16 } },
        axisTick: { show: false },
        splitLine: { length: 8 },
        axisLabel: { distance: 22 },
        anchor: { show: true, size: 14 },
        detail: { formatter: '{value} %', fontSize: 28, offsetCenter: [0, '64%'] },
        data: [{ value: 73 }],
      },
    ],
  },
];
for (const option of options) {
  const box = document.createElement('div');
  box.style.cssText = 'background:#16203a;border-radius:14px;overflow:hidden;min-width:0;min-height:0';
  app.append(box);
  echarts.init(box, 'dark').setOption({
    backgroundColor: 'transparent',
    animation: false,
    color: ['#4cc9f0', '#f72585', '#ffd166', '#06d6a0', '#b388eb', '#ff9f68'],
    ...option,
  });
}
