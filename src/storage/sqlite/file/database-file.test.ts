import { execFileSync } from 'node:child_process';
import {
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { giveToOwnerOf, makePrivateFile } from './database-file.ts';

test('a file of another user to which a link leads keeps its permissions and its owner, and a pipe is not waited for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-owner-'));
  const [data, secret] = [join(folder, 'data'), join(folder, 'secret')];
  const file = join(data, 'belfry.db');
  mkdirSync(data);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(data, 12_345, 12_346);
  writeFileSync(secret, '', { mode: 0o600 });
  const before = statSync(secret);
  const pipe = () => execFileSync('mkfifo', [file]);
  for (const put of [symlinkSync, linkSync, pipe]) {
    put(secret, file);
    expect(() => giveToOwnerOf(data, file, 0o666)).toThrow(/ELOOP|another process/);
    expect(statSync(secret)).toMatchObject({ uid: before.uid, gid: before.gid, mode: before.mode });
    unlinkSync(file);
  }
  writeFileSync(file, '', { mode: 0o600 });
  giveToOwnerOf(data, file, 0o640);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  if (isRoot) expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
  rmSync(folder, { recursive: true });
});

test('folders and files that root makes below a folder of another user belong to that user', () => {
  const data = mkdtempSync(join(tmpdir(), 'belfry-owner-'));
  if (process.getuid?.() === 0) chownSync(data, 12_345, 12_346);
  const { uid, gid } = statSync(data);
  makePrivateFile(join(data, 'a', 'b', 'belfry.db'));
  for (const [name, mode] of [
    ['a', 0o700],
    ['a/b', 0o700],
    ['a/b/belfry.db', 0o600],
  ] as const) {
    const made = statSync(join(data, name));
    expect({ name, uid: made.uid, gid: made.gid, mode: made.mode & 0o777 }).toEqual({ name, uid, gid, mode });
  }
  rmSync(data, { recursive: true });
});
