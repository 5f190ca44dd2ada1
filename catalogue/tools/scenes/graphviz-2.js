const app = document.querySelector('#app');
app.style.cssText = 'display:grid;place-items:center;background:#10302f';
app.innerHTML = '<img src="/recordings/graphviz-3.svg" style="width:1220px;height:760px;object-fit:contain">';
