import { useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import './tide-board.css';

const ports = [
  ['Brest', 6.2],
  ['St Malo', 10.8],
  ['Oban', 3.1],
  ['Cádiz', 3.3],
  ['Bergen', 1.2],
  ['Ayr', 2.9],
  ['Lagos', 2.6],
];

function Row({ port, metres }) {
  return (
    <div className={`row ${metres < 3 ? 'low' : ''}`}>
      {port}
      <div className="bar" style={{ width: `${metres * 8}%` }} />
      <b>{metres.toFixed(1)} m</b>
    </div>
  );
}

function Board() {
  const [limit, setLimit] = useState(2.5);
  const [falling, setFalling] = useState(true);
  const rows = useMemo(
    () => ports.filter(([, m]) => m >= limit).sort((a, b) => (falling ? b[1] - a[1] : a[1] - b[1])),
    [limit, falling],
  );
  return (
    <>
      <div className="left">
        <h1>Tide board</h1>
        <div>Harbours with at least {limit} m</div>
        <div className="big">{rows.length}</div>
        <input
          aria-label="limit"
          type="range"
          min="0"
          max="12"
          step="0.5"
          value={limit}
          onChange={(event) => setLimit(Number(event.target.value))}
        />
        <div>
          <button type="button" onClick={() => setFalling(!falling)}>
            {falling ? 'Highest first' : 'Lowest first'}
          </button>
          <button type="button" className="quiet" onClick={() => setLimit(0)}>
            Show all
          </button>
        </div>
        <small>A React component with two pieces of state</small>
      </div>
      <div className="right">
        {rows.map(([port, metres]) => (
          <Row key={port} port={port} metres={metres} />
        ))}
      </div>
    </>
  );
}

document.body.style.cssText = '--deep:#20323f;--bright:#61dafb';
createRoot(document.querySelector('#app')).render(<Board />);
