import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openKeyFile } from './key-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a key of 256 bits is made once, for this user alone, and read ever after', () => {
  const path = join(folder, 'one.key');
  writeFileSync(`${path}.new`, 'half a ke', { mode: 0o644 });
  const key = openKeyFile(path);
  expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.new`)).toBe(false);
  expect(openKeyFile(path)).toBe(key);
  expect(openKeyFile(join(folder, 'two.key'))).not.toBe(key);
});

test('a key that cannot be written leaves no file that a later start would take for one', () => {
  const path = join(folder, 'missing-folder', 'belfry.key');
  expect(() => openKeyFile(path)).toThrow('ENOENT');
  mkdirSync(join(path, '..'));
  expect(openKeyFile(path)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('a file that holds no key is left as it is, and said', () => {
  const path = join(folder, 'broken.key');
  for (const text of ['', 'short', `${'x'.repeat(43)} ${'y'.repeat(3)}`]) {
    writeFileSync(path, text);
    expect(() => openKeyFile(path)).toThrow(/holds no key: put the one back that was there/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

test('a key that cannot be read is said, and not made anew', () => {
  const path = join(folder, 'folder.key');
  mkdirSync(path);
  expect(() => openKeyFile(path)).toThrow(/the key file .+ cannot be read \(EISDIR\)/);
});

test('a key that cannot be made says where', () => {
  const path = join(folder, 'nowhere', 'belfry.key');
  expect(() => openKeyFile(path)).toThrow(
    `the key file ${path} cannot be made (ENOENT): this user must be able to write to ${join(folder, 'nowhere')}`,
  );
});
