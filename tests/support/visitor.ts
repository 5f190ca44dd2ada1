import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface VisitorResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * A client that stores cookies and alternates between several keep-alive connections, so each of several processes that
 * share a port serves some of its requests.
 */
export class Visitor {
  readonly #agents: Agent[];
  readonly #address: string;
  readonly #session: string;
  #cookie: string | undefined;
  #turn = 0;

  constructor(address: string, session: string, connections: number) {
    this.#address = address;
    this.#session = session;
    this.#agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  ask(method: 'GET' | 'PUT' | 'DELETE' | 'POST', path: string, body?: object): Promise<VisitorResponse> {
    this.#turn += 1;
    const agent = this.#agents[this.#turn % this.#agents.length];
    const headers = {
      accept: path.startsWith('/api/') ? 'application/json' : 'text/html',
      'x-user-session': this.#session,
      ...(body && { 'content-type': 'application/json' }),
      ...(this.#cookie && { cookie: this.#cookie }),
    };
    return new Promise((resolve, reject) => {
      const asked = request(`${this.#address}${path}`, { method, agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const [cookie] = response.headers['set-cookie'] ?? [];
          if (cookie !== undefined) this.#cookie = cookie.split(';', 1)[0];
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      asked.on('error', reject);
      asked.end(body && JSON.stringify(body));
    });
  }

  /** Sends a request that must succeed. @returns the JSON of the response. */
  async json<Result>(...asked: Parameters<Visitor['ask']>): Promise<Result> {
    const { status, body } = await this.ask(...asked);
    if (status >= 300) throw new Error(`${asked.join(' ')} got the response ${status}: ${body.slice(0, 200)}`);
    return JSON.parse(body);
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}
