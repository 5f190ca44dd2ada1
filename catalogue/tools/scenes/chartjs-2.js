import Chart from 'chart.js/auto';

const app = document.querySelector('#app');
app.style.cssText = 'background:#171a2b;padding:36px 44px';
const canvas = document.createElement('canvas');
app.append(canvas);
Chart.defaults.animation = false;
Chart.defaults.color = '#b9bfdb';
Chart.defaults.font.size = 17;
let seed = 3;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const cloud = (cx, cy, n) =>
  Array.from({ length: n }, () => ({
    x: cx + (random() + random() - 1) * 26,
    y: cy + (random() + random() - 1) * 30,
    r: 4 + random() * 22,
  }));
const set = (label, color, ...where) => ({
  label,
  backgroundColor: `${color}99`,
  borderColor: color,
  borderWidth: 2,
  data: cloud(...where),
});
new Chart(canvas, {
  type: 'bubble',
  data: {
    datasets: [
      set('Editors', '#ff6384', 30, 62, 34),
      set('Databases', '#36a2eb', 62, 40, 34),
      set('Frameworks', '#ffcd56', 76, 70, 30),
      set('Shells', '#4bc0c0', 36, 26, 24),
    ],
  },
  options: {
    maintainAspectRatio: false,
    scales: { x: { grid: { color: '#ffffff14' } }, y: { grid: { color: '#ffffff14' } } },
    plugins: {
      title: {
        display: true,
        text: 'Bubble chart of four random clusters',
        font: { size: 26 },
        color: '#fff',
        padding: 18,
      },
      legend: { labels: { usePointStyle: true, padding: 26 } },
    },
  },
});
