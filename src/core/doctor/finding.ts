/** What a look at one thing came to. */
export interface Finding {
  /** The thing, in a word or two. */
  check: string;
  /** `warning`: it works, and somebody should look at it. `fault`: it does not, or will not for long. */
  status: 'ok' | 'warning' | 'fault';
  /** What was found, in one line without secrets. */
  message: string;
  /** What to do about it; only where there is something to do. */
  advice?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message });

export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warning',
  message,
  advice,
});

export const fault = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'fault',
  message,
  advice,
});
