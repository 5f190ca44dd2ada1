/** The waves of the banner, which the style sheet draws. */
export function Waves() {
  return (
    <div className="waves" aria-hidden="true">
      <div className="waves-disc" />
      <div className="waves-layer waves-far" />
      <div className="waves-layer waves-middle" />
      <div className="waves-layer waves-near" />
    </div>
  );
}
