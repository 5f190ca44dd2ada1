import * as echarts from 'echarts';

// A sankey diagram of where a day's energy goes.
const links = [
  ['Wind', 'Grid', 42],
  ['Hydro', 'Grid', 28],
  ['Sun', 'Roofs', 20],
  ['Sun', 'Grid', 16],
  ['Biomass', 'District heat', 18],
  ['Roofs', 'Homes', 14],
  ['Roofs', 'Grid', 6],
  ['Grid', 'Homes', 30],
  ['Grid', 'Industry', 34],
  ['Grid', 'Transport', 18],
  ['Grid', 'Storage', 10],
  ['District heat', 'Homes', 12],
  ['District heat', 'Offices', 6],
  ['Storage', 'Transport', 6],
  ['Storage', 'Offices', 4],
  ['Homes', 'Heat', 26],
  ['Homes', 'Light', 10],
  ['Homes', 'Cooking', 20],
  ['Industry', 'Motors', 22],
  ['Industry', 'Heat', 12],
  ['Transport', 'Trams', 14],
  ['Transport', 'Cars', 10],
  ['Offices', 'Light', 6],
  ['Offices', 'Heat', 4],
];
const names = [...new Set(links.flatMap(([a, b]) => [a, b]))];
echarts.init(document.querySelector('#app')).setOption({
  backgroundColor: '#fffdf8',
  animation: false,
  color: ['#c43550', '#3f8fd2', '#f2a65a', '#2a9d8f', '#8f6bc9', '#e9c46a', '#5d7052', '#d9767f', '#4a6fa5', '#b5838d'],
  title: {
    text: 'A day of energy in a small town',
    subtext: 'megawatt hours',
    left: 48,
    top: 32,
    textStyle: { fontSize: 28 },
    subtextStyle: { fontSize: 17 },
  },
  series: [
    {
      type: 'sankey',
      left: 52,
      right: 130,
      top: 120,
      bottom: 44,
      nodeWidth: 22,
      nodeGap: 16,
      draggable: false,
      label: { fontSize: 17, color: '#333' },
      lineStyle: { color: 'gradient', opacity: 0.42, curveness: 0.5 },
      data: names.map((name) => ({ name })),
      links: links.map(([source, target, value]) => ({ source, target, value })),
    },
  ],
});
