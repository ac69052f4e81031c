import { expect, test } from 'vitest';
import { decodeEntities } from './html-entities.ts';

test('references are read as HTML reads them: numbers from 128 to 159 are of Windows', () => {
  expect(decodeEntities('it&#146;s &#150; 5&deg; &#x41;&amp;&#8211; &unknown; &#0;')).toBe(
    'it’s – 5° A&– &unknown; &#0;',
  );
});
