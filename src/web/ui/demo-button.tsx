import type { ReactNode } from 'react';
import type { PlainMessage } from '../language/catalogue.ts';
import { t } from '../language/translate.ts';

interface DemoButtonProps {
  label: PlainMessage;
  icon?: ReactNode;
  tone?: 'quiet' | 'outline';
}

/** A placeholder for a feature: disabled, and labelled as a demo. */
export function DemoButton({ label, icon, tone = 'quiet' }: DemoButtonProps) {
  return (
    <button type="button" className="button demo-button" data-tone={tone} disabled>
      {icon}
      <span>
        {t(label)} <span className="demo-mark">{t('(Demo)')}</span>
      </span>
    </button>
  );
}
