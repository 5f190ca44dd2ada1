import type { Binaries } from './binaries.ts';

/** What the embedded database takes for granted about its surroundings, so that a test can be in other ones. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** May user namespaces be tried? Whether they work is found out by trying. */
  readonly namespaces: boolean;
  readonly unixSockets: boolean;
  /** Folder for the clusters of root whose data folder nobody else can enter. */
  readonly elsewhere: string;
  /** PostgreSQL's programs; undefined: those that npm installed. */
  readonly binaries?: Binaries;
}

export const thisMachine: Machine = {
  platform: process.platform,
  arch: process.arch,
  namespaces: process.platform === 'linux',
  unixSockets: process.platform !== 'win32',
  elsewhere: '/var/lib/groundswell',
};
