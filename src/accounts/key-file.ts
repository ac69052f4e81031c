import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { conflict } from '#core/errors.ts';

const keyBytes = 32;

/**
 * The key that signs cookies and encrypts secrets of second factors, from a file that only the server's user may read. If the
 * file does not exist, it is created atomically and is durable when this returns. Only the server may call this, while it holds
 * the database's lock.
 *
 * @param makeFolder Creates the folder of the file if it is missing.
 * @throws AppError `conflict` when the file cannot be read or created, or holds no key.
 */
export function openKeyFile(path: string, makeFolder: (path: string) => void = () => undefined): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT')
      throw conflict(`the key file ${path} cannot be read (${code}): make it readable for this user alone`);
    try {
      makeFolder(dirname(path));
      createKeyFile(path, randomBytes(keyBytes).toString('base64url'));
    } catch (failure) {
      const { code: why } = failure as NodeJS.ErrnoException;
      const advice =
        why === 'ENOSPC' || why === 'EDQUOT'
          ? 'make room on its disk'
          : `this user must be able to write to ${dirname(path)}`;
      throw conflict(
        `the key file ${path} cannot be made (${why}): ${advice}; or set BELFRY_KEY_FILE to another place`,
      );
    }
    text = readFileSync(path, 'utf8');
  }
  const key = text.trim();
  if (/^[A-Za-z0-9_-]{43,}$/.test(key)) return key;
  throw conflict(
    `the key file ${path} holds no key: put the one back that was there, or remove the file, which signs everybody out and takes second factors`,
  );
}

/** Writes a new key file as a whole. If root does, it belongs to the owner of the folder. */
export function createKeyFile(path: string, key: string): void {
  const fresh = `${path}.new`;
  try {
    // A file that a crash left behind may have other permissions.
    rmSync(fresh, { force: true });
    const file = openSync(fresh, 'wx', 0o600);
    try {
      writeFileSync(file, `${key}\n`, { flush: true });
      // Root may run a command before the server's first start.
      const { uid, gid } = statSync(dirname(path));
      if (process.getuid?.() === 0) fchownSync(file, uid, gid);
    } finally {
      closeSync(file);
    }
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
