import mermaid from 'mermaid';

globalThis.sceneReady = false;
const app = document.querySelector('#app');
app.style.cssText = 'display:grid;place-items:center;background:#fff7f9';
mermaid.initialize({
  startOnLoad: false,
  theme: 'base',
  themeVariables: {
    fontSize: '21px',
    fontFamily: 'Liberation Sans',
    primaryColor: '#ffe1ea',
    primaryBorderColor: '#ff3670',
    primaryTextColor: '#3d0a1c',
    lineColor: '#a80f43',
    secondaryColor: '#e0f2f1',
    tertiaryColor: '#fffdf5',
  },
});
const { svg } = await mermaid.render(
  'flow',
  `flowchart LR
  idea([Idea]) --> draft[Write a draft]
  draft --> review{Good<br>enough?}
  review -- not yet --> draft
  subgraph pipeline [Pipeline]
    lint[Lint] --> pack[(Package)]
    unit[Unit tests] --> pack
    browser[Browser tests] --> pack
    scan[[Scan]] --> pack
  end
  review -- yes --> lint & unit & browser & scan
  pack --> ship>Ship it]
  pack -. every night .-> docs[/Docs/]
  ship --> watch((Watch))
  classDef go fill:#c9f2df,stroke:#12805c,color:#053b29
  class ship,watch,docs go`,
);
app.innerHTML = svg;
app.firstElementChild.style.cssText = 'width:1200px;max-width:1200px;height:720px';
globalThis.sceneReady = true;
