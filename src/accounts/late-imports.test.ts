import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** An idle server stays small: what only passkeys and providers need is loaded by the first who uses them. */
test('the libraries for passkeys and ID tokens are not imported at the start', () => {
  const folder = import.meta.dirname;
  for (const file of readdirSync(folder).filter((name) => /(?<!\.test)\.ts$/.test(name))) {
    const text = readFileSync(join(folder, file), 'utf8');
    const eager = [...text.matchAll(/^import (?!type )[^;]*from '([^']+)';/gm)].map(([, module]) => module);
    expect([file, eager]).toEqual([
      file,
      expect.not.arrayContaining([expect.stringMatching(/simplewebauthn|^jose$/)]),
    ]);
  }
});
