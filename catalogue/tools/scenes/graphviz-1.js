const app = document.querySelector('#app');
app.style.cssText = 'display:grid;place-items:center;background:#f7fbfa';
app.innerHTML = '<img src="/recordings/graphviz-1.svg" style="width:1180px;height:740px;object-fit:contain">';
