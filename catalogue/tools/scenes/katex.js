import katex from 'katex';
import 'katex/dist/katex.css';

const second = new URLSearchParams(location.search).has('second');
const app = document.querySelector('#app');
const set = (tex) => katex.renderToString(tex, { displayMode: true });
if (second) {
  app.style.cssText =
    'background:#0f2f2d;color:#e9f7f4;display:grid;grid-template-columns:1fr 1fr;gap:22px;padding:40px;height:800px;font-size:25px';
  const cards = [
    '\\hat f(\\xi)=\\int_{-\\infty}^{\\infty} f(x)\\,e^{-2\\pi i x\\xi}\\,dx',
    '\\begin{pmatrix}\\cos\\theta & -\\sin\\theta\\\\ \\sin\\theta & \\cos\\theta\\end{pmatrix}\\begin{pmatrix}x\\\\y\\end{pmatrix}',
    '\\sum_{n=1}^{\\infty}\\frac{1}{n^2}=\\frac{\\pi^2}{6}',
    'x=\\cfrac{1}{1+\\cfrac{1}{2+\\cfrac{1}{3+\\cfrac{1}{4+\\cdots}}}}',
    '\\nabla\\times\\mathbf{B}=\\mu_0\\Bigl(\\mathbf{J}+\\varepsilon_0\\frac{\\partial\\mathbf{E}}{\\partial t}\\Bigr)',
    '\\begin{CD} A @>f>> B \\\\ @VgVV @VVhV \\\\ C @>>k> D \\end{CD}',
  ];
  app.innerHTML = cards
    .map(
      (tex) => `<div style="background:#17504c;border-radius:18px;display:grid;place-items:center">${set(tex)}</div>`,
    )
    .join('');
} else {
  app.style.cssText =
    'background:#fffdf8;color:#1c2b2a;padding:56px 120px;height:800px;font:24px/1.55 KaTeX_Main,serif';
  const inline = (tex) => katex.renderToString(tex);
  app.innerHTML = `<h1 style="margin:0 0 .3em;font-size:44px;font-weight:400">Waves on shallow water</h1><p>Let ${inline('h(x,t)')} be the depth and ${inline('u(x,t)')} the velocity. Conservation of mass and momentum give</p>${set('\\frac{\\partial h}{\\partial t}+\\frac{\\partial (hu)}{\\partial x}=0,\\qquad \\frac{\\partial u}{\\partial t}+u\\frac{\\partial u}{\\partial x}+g\\frac{\\partial h}{\\partial x}=0.')}<p>Small disturbances ${inline('\\eta\\ll h_0')} therefore obey the wave equation with speed ${inline('c=\\sqrt{g h_0}')}, and any solution is</p>${set('\\eta(x,t)=\\sum_{k=1}^{n} a_k\\cos\\bigl(\\omega_k t-\\kappa_k x+\\varphi_k\\bigr),\\qquad \\omega_k^2=g\\,\\kappa_k\\tanh(\\kappa_k h_0).')}<p>In deep water ${inline('\\tanh(\\kappa h_0)\\to 1')}, so long waves travel faster: ${inline('c=\\sqrt{\\tfrac{g\\lambda}{2\\pi}}')}. ${inline('\\blacksquare')}</p>`;
}
