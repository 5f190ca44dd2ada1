import { stat, statfs } from 'node:fs/promises';
import { systemCode } from '../file-system.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const GIB = 2 ** 30;
const FAULT_BYTES = GIB / 4;
const WARNING_BYTES = GIB;
const WARNING_SHARE = 0.05;

/** Free and total bytes of a folder's disk; injected by tests. */
export type MeasureDisk = (folder: string) => Promise<{ free: number; all: number }>;

const measureDisk: MeasureDisk = async (folder) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, all: blocks * bsize };
};

/** Whether the disk has room for a setting's folder. */
export async function checkDisk(setting: string, folder: string, measure: MeasureDisk = measureDisk): Promise<Finding> {
  const check = `disk of ${setting}`;
  try {
    const { free, all } = await measure(folder);
    const message = `${(free / GIB).toFixed(1)} GiB free of ${(all / GIB).toFixed(1)} GiB at ${folder}`;
    const advice = `Free some space there, or set ${setting} to a folder on a larger disk.`;
    if (free < FAULT_BYTES) return fault(check, message, advice);
    if (free < WARNING_BYTES || free < all * WARNING_SHARE) return warning(check, message, advice);
    return ok(check, message);
  } catch (error) {
    return warning(
      check,
      `${folder} cannot be read (${systemCode(error) ?? error})`,
      `Check that ${setting} is right.`,
    );
  }
}

/** Whether the data folder belongs to the database's account. */
export async function checkDataFolder(clusterDir: string): Promise<Finding> {
  const { uid, mode } = await stat(clusterDir);
  const permissions = mode & 0o777;
  const self = process.geteuid?.() ?? uid;
  if (self !== 0 && uid !== self) {
    return fault(
      'data folder',
      `${clusterDir} belongs to the user with the id ${uid}, and this is ${self}`,
      `Run Groundswell as that user, or as root: chown -R ${self} ${clusterDir}`,
    );
  }
  if ((permissions & 0o027) !== 0)
    return fault('data folder', `${clusterDir} has the mode ${permissions.toString(8)}`, `Run chmod 700 ${clusterDir}`);
  return ok('data folder', `${clusterDir} is accessible to its owner only`);
}
