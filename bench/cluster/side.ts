import type { BenchDatabase } from '../harness/bench-database.ts';
import { withChildren } from '../harness/process-use.ts';
import { type ServerProcess, startSite } from '../harness/server-process.ts';

/** One of the compared setups: one or more sites that serve one database. */
export interface Side {
  name: string;
  database: BenchDatabase;
  /** The address of each site. */
  addresses: readonly string[];
  /** Returns the ids of all processes of the sites, without those of the database. */
  pids(): Promise<number[]>;
  /** The number of acknowledged upvotes. */
  upvotes: number;
  stop(): Promise<void>;
}

export interface SideShape {
  name: string;
  /** Number of processes per site (WEB_CONCURRENCY). */
  processes: number;
  /** The number of sites. Each listens on its own port. */
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
