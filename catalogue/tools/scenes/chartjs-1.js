import Chart from 'chart.js/auto';

const app = document.querySelector('#app');
app.style.cssText =
  'display:grid;grid-template-columns:1.5fr 1fr;grid-template-rows:1fr 1fr;gap:20px;padding:28px;background:#f5f6fa';
Chart.defaults.animation = false;
Chart.defaults.font.size = 15;
Chart.defaults.font.family = 'Liberation Sans, sans-serif';
Chart.defaults.maintainAspectRatio = false;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const add = (title, config) => {
  const box = document.createElement('div');
  box.style.cssText =
    'background:#fff;border-radius:16px;padding:18px 22px;box-shadow:0 4px 18px #1b254012;position:relative;min-width:0;min-height:0';
  const canvas = document.createElement('canvas');
  box.append(canvas);
  app.append(box);
  const plugins = {
    title: { display: true, text: title, align: 'start', font: { size: 19 }, color: '#1b2540' },
    ...config.plugins,
  };
  new Chart(canvas, { ...config, options: { ...config.options, plugins } });
};
const line = (label, data, color) => ({
  label,
  data,
  borderColor: color,
  backgroundColor: `${color}22`,
  fill: true,
  tension: 0.4,
  borderWidth: 3,
  pointRadius: 4,
});
add('Visitors at the lighthouse', {
  type: 'line',
  data: {
    labels: months,
    datasets: [
      line('2025', [120, 140, 210, 380, 520, 690, 880, 910, 620, 380, 190, 150], '#36a2eb'),
      line('2024', [90, 130, 160, 300, 460, 640, 760, 800, 540, 300, 170, 110], '#ff6384'),
    ],
  },
});
add('Tickets', {
  type: 'doughnut',
  data: {
    labels: ['Adults', 'Children', 'Families', 'Groups'],
    datasets: [
      { data: [42, 21, 25, 12], backgroundColor: ['#36a2eb', '#ff6384', '#ffcd56', '#4bc0c0'], borderWidth: 4 },
    ],
  },
  options: { cutout: '62%' },
});
add('Rain and sun', {
  data: {
    labels: months,
    datasets: [
      {
        type: 'bar',
        label: 'mm',
        data: [98, 72, 64, 48, 52, 46, 58, 72, 80, 104, 110, 102],
        backgroundColor: '#4bc0c0',
        borderRadius: 6,
      },
      {
        type: 'line',
        label: 'hours of sun',
        data: [38, 66, 110, 160, 210, 190, 175, 160, 120, 84, 48, 30],
        borderColor: '#ff9f40',
        borderWidth: 3,
        tension: 0.3,
      },
    ],
  },
});
add('What people came for', {
  type: 'polarArea',
  data: {
    labels: ['View', 'History', 'Birds', 'Walks', 'Café'],
    datasets: [
      { data: [16, 11, 8, 13, 6], backgroundColor: ['#36a2ebbb', '#ff6384bb', '#4bc0c0bb', '#ffcd56bb', '#9966ffbb'] },
    ],
  },
});
