import type { BenchDatabase } from '../harness/bench-database.ts';
import { withChildren } from '../harness/process-use.ts';
import { type ServerProcess, startSite } from '../harness/server-process.ts';

/** A way to serve one database with several processes. */
export interface Side {
  name: string;
  database: BenchDatabase;
  /** One address, or one for each site. */
  addresses: readonly string[];
  /** All processes of the side, except its database's. */
  pids(): Promise<number[]>;
  /** The number of acknowledged upvotes. */
  upvotes: number;
  stop(): Promise<void>;
}

export interface SideShape {
  name: string;
  /** Processes of each site (WEB_CONCURRENCY). */
  processes: number;
  /** Sites, each on a separate port. */
  sites: number;
}

export async function startSide(database: BenchDatabase, { name, processes, sites }: SideShape): Promise<Side> {
  const started: ServerProcess[] = [];
  for (let site = 0; site < sites; site += 1) {
    started.push(await startSite(database.url, { WEB_CONCURRENCY: String(processes) }));
  }
  return {
    name,
    database,
    addresses: started.map(({ address }) => address),
    pids: async () => (await Promise.all(started.map(({ pid }) => withChildren(pid)))).flat(),
    upvotes: 0,
    async stop() {
      for (const site of started) await site.stop();
    },
  };
}
