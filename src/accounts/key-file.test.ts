import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readKeyFile } from './key-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a key of 256 bits is made once, for this user alone, and read ever after', () => {
  const path = join(folder, 'one.key');
  const key = readKeyFile(path);
  expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readKeyFile(path)).toBe(key);
  expect(readKeyFile(join(folder, 'two.key'))).not.toBe(key);
});

test('a file that holds no key is left as it is, and said', () => {
  const path = join(folder, 'broken.key');
  for (const text of ['', 'short', `${'x'.repeat(43)} ${'y'.repeat(3)}`]) {
    writeFileSync(path, text);
    expect(() => readKeyFile(path)).toThrow(/holds no key: put the one back that was there/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});
