import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '#core/errors.ts';

const keyBytes = 32;

/**
 * The key that signs cookies and encrypts secrets of second factors, from a file that only the server's user may read. If the
 * file does not exist, it is created atomically and is durable when this returns. Only the server may call this, while it holds
 * the database's lock.
 *
 * @throws AppError `conflict` when the file cannot be read or holds no key; Error when it cannot be created.
 */
export function openKeyFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw new AppError(
        'conflict',
        `the key file ${path} cannot be read (${code}): make it readable for this user alone`,
      );
    createKeyFile(path);
    text = readFileSync(path, 'utf8');
  }
  const key = text.trim();
  if (/^[A-Za-z0-9_-]{43,}$/.test(key)) return key;
  throw new AppError(
    'conflict',
    `the key file ${path} holds no key: put the one back that was there, or remove the file, which signs everybody out and takes second factors`,
  );
}

function createKeyFile(path: string): void {
  const fresh = `${path}.new`;
  try {
    // A file that a crash left behind may have other permissions.
    rmSync(fresh, { force: true });
    const key = `${randomBytes(keyBytes).toString('base64url')}\n`;
    writeFileSync(fresh, key, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
