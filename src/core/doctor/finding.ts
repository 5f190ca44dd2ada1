/** The result of one check. */
export interface Finding {
  /** The checked subject, in a word or two. */
  check: string;
  /** `warning`: the subject works but needs attention. `fault`: it does not work, or will soon stop working. */
  status: 'ok' | 'warning' | 'fault';
  /** The finding, in one line without secrets. */
  message: string;
  /** What the operator should do; absent if the check passed. */
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
