/** Refuses wrong settings before anything is built, which takes a minute in a new checkout. */
import { existsSync, statSync } from 'node:fs';
import { ConfigError, readConfig } from '#settings/config.ts';

// A secret in a pipe, as in BELFRY_ADMIN_PASSWORD_FILE=/dev/stdin, can be read only once: the server must do it.
const isPiped = Object.entries(process.env).some(
  ([name, path = '']) => /^BELFRY_\w+_FILE$/.test(name) && existsSync(path) && !statSync(path).isFile(),
);

try {
  if (!isPiped) readConfig(process.env);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  for (const problem of error.problems) process.stderr.write(`belfry: ${problem}\n`);
  process.exitCode = 2;
}
