import { randomId } from '../../storage/session.ts';
import { leadStream, type StreamLeader, type TabMessage, type TabSubscription } from './stream-leader.ts';

/**
 * The name of the channel and of the lock. Change it when the messages change, because open tabs may run different
 * builds.
 */
const CHANNEL_NAME = 'live-3';

export interface SharedStream {
  /** Sets the subscription of this tab. */
  subscribe(subscription: Omit<TabSubscription, 'tab' | 'number'>): void;
  /** Unsubscribes. If this tab leads, another tab takes over. */
  leave(): void;
}

/** Callbacks that each tab provides. */
export interface SharedStreamHandlers {
  /** Called when the open stream covers this tab's latest subscription. */
  onOpen(): void;
  onLost(): void;
  onEvent(event: Extract<TabMessage, { kind: 'event' }>): void;
  /** Called with a server time (ms) up to which all changes that the stream covers were received. */
  onId(id: number): void;
}

/**
 * Joins the one stream for all tabs of a browser: the tab that holds the lock opens the stream and forwards its events.
 * Without locks or channels, as on an insecure origin or if the browser blocks storage, each tab opens its own stream.
 */
export function joinSharedStream(handlers: SharedStreamHandlers): SharedStream {
  const tab = randomId() ?? String(Math.random());
  const left = new AbortController();
  let channel = openChannel();
  let ownSubscription: TabSubscription | undefined;
  let leader: StreamLeader | undefined;

  function broadcast(message: TabMessage): void {
    if (left.signal.aborted) return;
    channel?.postMessage(message);
    handleMessage(message);
  }

  function handleMessage(message: TabMessage): void {
    if (message.kind === 'subscribe') leader?.subscribe(message.subscription);
    else if (message.kind === 'leave') leader?.unsubscribe(message.tab);
    else if (message.kind === 'resubscribe') {
      if (ownSubscription) broadcast({ kind: 'subscribe', subscription: ownSubscription });
    } else if (message.kind === 'open') {
      if (ownSubscription && message.covered[tab] === ownSubscription.number) handlers.onOpen();
    } else if (message.kind === 'lost') handlers.onLost();
    else if (message.kind === 'event') handlers.onEvent(message);
    else handlers.onId(message.id);
  }

  function startLeading(): void {
    leader = leadStream(broadcast);
    broadcast({ kind: 'resubscribe' });
  }

  if (channel) {
    channel.onmessage = ({ data }) => handleMessage(data as TabMessage);
    navigator.locks
      .request(CHANNEL_NAME, { signal: left.signal }, () => {
        if (left.signal.aborted) return;
        startLeading();
        return new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()));
      })
      .catch(() => {
        // The tab left before it got the lock.
        if (left.signal.aborted) return;
        channel?.close();
        channel = undefined;
        startLeading();
      });
  } else startLeading();

  return {
    subscribe(subscription) {
      ownSubscription = { ...subscription, tab, number: (ownSubscription?.number ?? 0) + 1 };
      broadcast({ kind: 'subscribe', subscription: ownSubscription });
    },
    leave() {
      broadcast({ kind: 'leave', tab });
      leader?.close();
      left.abort();
      channel?.close();
    },
  };
}

/** Returns the channel between the tabs of this browser, or `undefined` if the browser lacks or blocks what it needs. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return 'locks' in navigator ? new BroadcastChannel(CHANNEL_NAME) : undefined;
  } catch {
    // With cookies blocked, Firefox throws a SecurityError.
    return undefined;
  }
}
