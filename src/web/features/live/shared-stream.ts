import { randomId } from '../../storage/session.ts';
import { type Lead, leadStream, type TabMessage, type Want } from './stream-leader.ts';

/** The name of the channel and of the lock. A build with other messages must use another name. */
const NAME = 'live-2';

export interface SharedStream {
  /** Sets the subscription of this tab. */
  want(want: Omit<Want, 'tab' | 'number'>): void;
  /** Unsubscribes. If this tab leads, another tab takes over. */
  leave(): void;
}

/** Callbacks that each tab provides. */
export interface SharedStreamHandlers {
  /** Called when the open stream covers this tab's latest subscription. */
  onOpen(): void;
  onLost(): void;
  onEvent(event: Extract<TabMessage, { kind: 'event' }>): void;
  /**
   * Called with a server time (ms) up to which everything was received, if the stream covers the latest subscription.
   */
  onId(id: number): void;
}

/**
 * One stream for all tabs of a browser: the tab that has the lock opens it and forwards its events. Without locks or channels,
 * as on an insecure origin, each tab opens its own stream.
 */
export function joinSharedStream(handlers: SharedStreamHandlers): SharedStream {
  const tab = randomId() ?? String(Math.random());
  const left = new AbortController();
  const isShared = 'locks' in navigator && 'BroadcastChannel' in window;
  const channel = isShared ? new BroadcastChannel(NAME) : undefined;
  let own: Want | undefined;
  let lead: Lead | undefined;

  function say(message: TabMessage): void {
    if (left.signal.aborted) return;
    channel?.postMessage(message);
    hear(message);
  }

  function hear(message: TabMessage): void {
    if (message.kind === 'want') lead?.take(message.want);
    else if (message.kind === 'leave') lead?.drop(message.tab);
    else if (message.kind === 'who') {
      if (own) say({ kind: 'want', want: own });
    } else if (message.kind === 'open') {
      if (own && message.covered[tab] === own.number) handlers.onOpen();
    } else if (message.kind === 'lost') handlers.onLost();
    else if (message.kind === 'event') handlers.onEvent(message);
    else handlers.onId(message.id);
  }

  function begin(): void {
    lead = leadStream(say);
    say({ kind: 'who' });
  }

  if (channel) {
    channel.onmessage = ({ data }) => hear(data as TabMessage);
    navigator.locks
      .request(NAME, { signal: left.signal }, () => {
        if (left.signal.aborted) return;
        begin();
        return new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()));
      })
      // The tab left before it got the lock.
      .catch(() => {});
  } else begin();

  return {
    want(want) {
      own = { ...want, tab, number: (own?.number ?? 0) + 1 };
      say({ kind: 'want', want: own });
    },
    leave() {
      say({ kind: 'leave', tab });
      lead?.close();
      left.abort();
      channel?.close();
    },
  };
}
