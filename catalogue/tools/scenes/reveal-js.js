import Reveal from 'reveal.js';
import hljs from 'reveal.js/plugin/highlight';
import 'reveal.js/reveal.css';

globalThis.sceneReady = false;
const second = new URLSearchParams(location.search).has('second');
document.head.insertAdjacentHTML(
  'beforeend',
  `<link rel="stylesheet" href="/node_modules/reveal.js/dist/theme/${second ? 'white' : 'night'}.css"><link rel="stylesheet" href="/node_modules/reveal.js/dist/plugin/highlight/monokai.css">`,
);
const app = document.querySelector('#app');
app.className = 'reveal';
app.style.cssText = '--r-main-font:Liberation Sans;--r-heading-font:Liberation Sans;--r-main-font-size:34px';
app.innerHTML = second
  ? `<div class="slides"><section><h3 style="text-align:left">Read a wave in five lines</h3><pre style="font-size:.62em;width:100%"><code class="javascript" data-trim data-line-numbers="2-4">
const sea = await fetch('/tides/oban.json').then((r) => r.json());
const crests = sea.heights.filter(
  (height, i, all) => height > all[i - 1] && height > all[i + 1],
);
console.log(\`\${crests.length} crests, the tallest \${Math.max(...crests)} m\`);
</code></pre><ul style="font-size:.85em"><li>Lines two to four find the <strong>crests</strong></li><li>Everything else is fetching and printing</li></ul></section><section>2</section><section>3</section></div>`
  : `<div class="slides"><section data-background-gradient="radial-gradient(circle at 20% 10%,#2b6ea8,#111 70%)"><h1 style="font-size:2.5em;text-transform:none">Explore the wave</h1><p>Slides that are a web page</p><p style="font-size:.7em;opacity:.8">Speaker notes, code steps and PDF export included</p></section><section>2</section><section>3</section><section>4</section></div>`;
const deck = new Reveal(app, {
  embedded: false,
  hash: false,
  slideNumber: 'c/t',
  transition: 'none',
  plugins: second ? [hljs] : [],
});
await deck.initialize();
setTimeout(() => {
  deck.layout();
  globalThis.sceneReady = true;
}, 900);
