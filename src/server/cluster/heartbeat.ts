/** Something that should answer now and then. */
export interface HeartbeatOptions<Process> {
  /** Those that are watched at the moment. */
  processes: () => readonly Process[];
  ask: (process: Process) => void;
  /** Whether something holds it on purpose, such as a debugger. Asked only of one that is about to be lost. */
  isHeld: (process: Process) => Promise<boolean>;
  /** It did not answer for so long. */
  onLost: (process: Process, silentS: number) => void;
  everyMs?: number;
}

export interface Heartbeat<Process> {
  heard(process: Process, isDebugged: boolean): void;
  stop(): void;
}

const EVERY_MS = 1_000;
/** Longer than anything that a process does in one go, also on a machine that has far too much to do. */
const MOST_UNANSWERED = 20;

/**
 * Notices processes that hang: in an endless loop, stopped, or waiting for a disk that never answers. What counts is how often this
 * process looked in vain and not the time that went by: when the machine sleeps, or all processes are paused together, nobody
 * looks, and nothing is lost.
 */
export function watchHeartbeats<Process extends object>(options: HeartbeatOptions<Process>): Heartbeat<Process> {
  const { processes, ask, isHeld, onLost, everyMs = EVERY_MS } = options;
  /** How often each was found to have not answered yet; only those that were asked. */
  const unanswered = new Map<Process, number>();
  const debugged = new WeakSet<Process>();

  async function look(process: Process): Promise<void> {
    const count = unanswered.get(process);
    if (count === undefined) {
      unanswered.set(process, 0);
      ask(process);
      return;
    }
    // Not asked twice: what it does not read would pile up.
    unanswered.set(process, count + 1);
    if (count + 1 < MOST_UNANSWERED || debugged.has(process)) return;
    if (await isHeld(process)) unanswered.set(process, 0);
    else if (unanswered.delete(process)) onLost(process, ((count + 1) * everyMs) / 1_000);
  }

  const timer = setInterval(() => {
    const present = processes();
    for (const known of unanswered.keys()) if (!present.includes(known)) unanswered.delete(known);
    for (const process of present) void look(process);
  }, everyMs);
  timer.unref();

  return {
    heard(process, isDebugged) {
      unanswered.delete(process);
      if (isDebugged) debugged.add(process);
      else debugged.delete(process);
    },
    stop: () => clearInterval(timer),
  };
}
