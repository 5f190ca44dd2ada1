import type { Finding } from '../../contract/console/records.ts';

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message });

export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warning',
  message,
  advice,
});

export const failure = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'failed',
  message,
  advice,
});
