import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** An idle server is to stay small: what the library weighs is loaded by the first who signs in. */
test('the library is imported by the files behind the one that is loaded late, and by no other', () => {
  const folder = import.meta.dirname;
  const late = ['library.ts', 'adapter.ts'];
  for (const file of readdirSync(folder).filter((name) => /(?<!\.test)\.ts$/.test(name))) {
    const imports = readFileSync(join(folder, file), 'utf8').matchAll(
      /^import (type )?[^;]*from '([^']+)';/gm,
    );
    for (const [, type, module = ''] of imports) {
      if (type !== undefined || late.includes(file)) continue;
      expect([file, module]).not.toEqual([
        file,
        expect.stringMatching(/better-auth|\.\/(?:library|adapter)\.ts$/),
      ]);
    }
  }
  expect(readFileSync(join(folder, 'ask.ts'), 'utf8')).toContain("import('./library.ts')");
});
