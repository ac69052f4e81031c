import { ConfigError, readConfig } from '../../src/settings/config.ts';

/** The problems of these settings. */
export function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
