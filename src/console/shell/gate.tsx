import type { ReactNode } from 'react';
import { WaveMark } from '../../web/ui/icons.tsx';

/** The frame of the pages before sign-in: one column over the waves. */
export function Gate({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="gate">
      <div className="gate-card card">
        <div className="gate-mark">
          <WaveMark />
        </div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

/** Why the last attempt failed; announced when it appears. */
export function GateFault({ children }: { children: ReactNode }) {
  return (
    <p className="gate-fault" role="alert">
      {children}
    </p>
  );
}
