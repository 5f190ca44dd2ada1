import mermaid from 'mermaid';

globalThis.sceneReady = false;
const app = document.querySelector('#app');
app.style.cssText = 'display:grid;place-items:center;background:#1b1524';
mermaid.initialize({
  startOnLoad: false,
  theme: 'dark',
  themeVariables: { fontFamily: 'Liberation Sans', fontSize: '20px' },
  sequence: { messageFontSize: 20, actorFontSize: 21, noteFontSize: 19, mirrorActors: false },
});
const { svg } = await mermaid.render(
  'sequence',
  `sequenceDiagram
  autonumber
  actor V as Visitor
  participant B as Browser
  participant S as Server
  participant D as Database
  V->>B: presses upvote
  B->>B: shows it at once
  B->>+S: PUT /upvote
  S->>+D: insert, count + 1
  D-->>-S: committed
  alt all went well
    S-->>B: 200, the new count
  else the network failed
    S--x B: nothing
    B->>V: takes it back, says why
  end
  deactivate S
  Note over S,D: one transaction`,
);
app.innerHTML = svg;
app.firstElementChild.style.cssText = 'width:1180px;max-width:1180px;height:750px';
globalThis.sceneReady = true;
