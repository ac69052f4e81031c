import { expect, test } from 'vitest';
import { shortNameOf } from './short-name.ts';

test.each([
  ['Plant 2, Hall B', 'plant-2-hall-b'],
  ['  Müller & Söhne ', 'mueller-soehne'],
  ['Klinikum Süd', 'klinikum-sued'],
  ['GROẞE STRAßE, Café', 'grosse-strasse-cafe'],
  ['--', ''],
  ['工場', ''],
  [`a${'b'.repeat(80)}`, `a${'b'.repeat(62)}`],
])('the short name of "%s" is "%s"', (title, name) => {
  expect(shortNameOf(title)).toBe(name);
});
