/** Refuses wrong settings before anything is built, which takes a minute in a new checkout. */
import { ConfigError, readConfig } from '#settings/config.ts';

try {
  readConfig(process.env);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const problem of error.problems) process.stderr.write(`belfry: ${problem}\n`);
  process.exitCode = 2;
}
