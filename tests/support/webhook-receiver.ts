import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../../src/contract/webhooks/schema.ts';
import { stablePort } from './stable-port.ts';

/** Creates a Standard Webhooks secret, as the value of the setting and as the decoded key. */
export function newSecret(byte: number): { text: string; key: Buffer } {
  const key = Buffer.alloc(32, byte);
  return { text: `whsec_${key.toString('base64')}`, key };
}

export interface Received {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  /** All requests so far, in order of arrival. */
  received: Received[];
  /** Responds to a request, by default with 204. */
  respond: (response: ServerResponse) => void;
  /** Refuses connections until `resume` is called. */
  stop(): Promise<void>;
  /** Accepts connections again, on the same port. */
  resume(): Promise<void>;
}

/** Starts a receiver of webhooks on its own port. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const accept = (response: ServerResponse) => response.writeHead(204).end();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      receiver.received.push({ path: request.url, headers: request.headers, body });
      receiver.respond(response);
    });
  });
  // The receiver never ends idle connections. Otherwise, a request could fail because its connection ends at the same
  // time, and a test that does not advance its clock would never see the retry.
  server.keepAliveTimeout = 0;
  const port = await stablePort();
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen();
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    received: [],
    respond: accept,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    resume: listen,
  };
  return receiver;
}

/** Verifies a request with the reference library. @returns the event. @throws WebhookVerificationError */
export function verified({ headers, body }: Received, secret: { text: string }): WebhookEvent {
  return new Webhook(secret.text).verify(body, headers as Record<string, string>) as WebhookEvent;
}
