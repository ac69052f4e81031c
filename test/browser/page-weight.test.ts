import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('no page weighs more than it may at a first look', () => {
  const script = join(import.meta.dirname, '../../bench/page-weight.ts');
  // It ends with a failure when a page is too heavy.
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  expect(printed).toMatch(/^dashboard: all, gzip/m);
  expect(printed).toMatch(/^panel: all, gzip/m);
});
