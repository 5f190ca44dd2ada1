/**
 * Decodes untrusted pictures in a separate process with bounded memory. The process gets no settings, uses neither
 * database nor network, and writes no files.
 */
import { totalmem } from 'node:os';
import { serveTasks } from '../../task-process/serve-tasks.ts';

/** Enough for an AVIF of 40 megapixels, which takes 770 MiB. */
const MAX_RESIDENT_BYTES = 1024 * 1024 * 1024;

const availableBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

await serveTasks(async () => (await import('./process-picture.ts')).processPicture, {
  maxResidentBytes: Math.min(MAX_RESIDENT_BYTES, availableBytes / 2),
});
