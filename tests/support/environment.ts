import { readSettings, SETTING_NAMES, SettingsError } from '../../src/settings/settings.ts';

/** Returns this process's environment without the settings of a developer's own site. */
export function environmentWithoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SETTING_NAMES.includes(name)));
}

/** Returns the errors of the settings in an environment. */
export function errorsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.errors;
    throw error;
  }
  return [];
}
