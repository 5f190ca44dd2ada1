import { SETTING_NAMES } from '../../src/settings/settings.ts';

/** Returns this process's environment without the settings of a developer's own site. */
export function environmentWithoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTING_NAMES.includes(name)));
}
