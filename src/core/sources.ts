import { randomUUID } from 'node:crypto';

/** Where time and new ids come from: a seam, so that a test decides both and never sleeps. */
export interface Sources {
  now(): Date;
  uuid(): string;
}

export const systemSources: Sources = {
  now: () => new Date(),
  uuid: () => randomUUID(),
};
