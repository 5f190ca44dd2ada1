/** Layered waves before a low sun. Each layer is drawn twice as wide as it is seen, so that it can drift without a seam. */
export function Waves() {
  return (
    <div className="waves" aria-hidden="true">
      <div className="waves-sun" />
      {LAYERS.map(({ name, path }) => (
        <svg
          key={name}
          className={`waves-layer waves-${name}`}
          viewBox="0 0 2400 160"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path d={path} />
        </svg>
      ))}
    </div>
  );
}

/** Every curve repeats after 1200 units: drifting by half the drawing brings it back to where it began. */
const LAYERS = [
  {
    name: 'far',
    path: 'M0 70c150 0 180-46 330-46s190 62 330 62 200-40 300-40 140 24 240 24 180-46 330-46 190 62 330 62 200-40 300-40 140 24 240 24v90H0Z',
  },
  {
    name: 'middle',
    path: 'M0 88c120 0 160 34 290 34S480 66 620 66s180 52 310 52 170-30 270-30 160 34 290 34 190-56 330-56 180 52 310 52 170-30 270-30v72H0Z',
  },
  {
    name: 'near',
    path: 'M0 118c140 0 200-30 340-30s200 44 340 44 180-26 270-26 150 12 250 12 200-30 340-30 200 44 340 44 180-26 270-26 150 12 250 12v42H0Z',
  },
] as const;
