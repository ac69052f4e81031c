import { expect, test } from 'vitest';
import { clip } from './clip.ts';

test.each([
  ['Disk full', 9, 'Disk full'],
  ['Disk is full', 9, 'Disk is f…'],
  // A rule is named after what it mutes, and its name must be whole characters.
  ['Disk 🔥 full', 6, 'Disk …'],
  ['Disk 🔥 full', 7, 'Disk 🔥…'],
])('%s in %i is %s', (text, most, expected) => {
  expect(clip(text, most)).toBe(expected);
});
