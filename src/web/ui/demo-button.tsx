import type { ReactNode } from 'react';

interface DemoButtonProps {
  label: string;
  icon?: ReactNode;
  tone?: 'quiet' | 'outline';
}

/** A placeholder for a feature: disabled, and labelled as a demo. */
export function DemoButton({ label, icon, tone = 'quiet' }: DemoButtonProps) {
  return (
    <button type="button" className="button demo-button" data-tone={tone} disabled>
      {icon}
      <span>
        {label} <span className="demo-mark">(Demo)</span>
      </span>
    </button>
  );
}
