import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '../core/errors.ts';

const keyBytes = 32;

/**
 * The key that cookies are signed with and second factors are sealed with, from a file that only the server's user may
 * read. Made when there is none; of several who make it at once, one does and the others read what it made.
 *
 * @throws AppError `conflict` when the file holds no key.
 */
export function readKeyFile(path: string): string {
  try {
    writeFileSync(path, `${randomBytes(keyBytes).toString('base64url')}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = readFileSync(path, 'utf8').trim();
  if (/^[A-Za-z0-9_-]{43,}$/.test(key)) return key;
  throw new AppError(
    'conflict',
    `${path} holds no key: put the one back that was there, or remove the file, which signs everybody out and takes second factors`,
  );
}
