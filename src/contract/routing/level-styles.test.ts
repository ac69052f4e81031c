import { expect, test } from 'vitest';
import { builtInLevels, builtInStyles, compareLevels, isBuiltInLevel } from './level-styles.ts';

test('every built-in level has a look, and they rise in rank', () => {
  expect(Object.keys(builtInStyles)).toEqual([...builtInLevels]);
  expect(builtInLevels.map((name) => builtInStyles[name].rank)).toEqual([10, 20, 30, 40, 50]);
});

test('no two built-in levels share a colour or an icon', () => {
  const styles = Object.values(builtInStyles);
  expect(new Set(styles.map(({ color }) => color)).size).toBe(styles.length);
  expect(new Set(styles.map(({ icon }) => icon)).size).toBe(styles.length);
});

test('built-in levels stand before custom ones, which stand by name', () => {
  const names = ['zeta', 'critical', 'alpha', 'info', 'success', 'a-b'];
  const sorted = names.map((name) => ({ name })).sort(compareLevels);
  expect(sorted.map(({ name }) => name)).toEqual(['success', 'info', 'critical', 'a-b', 'alpha', 'zeta']);
  expect(isBuiltInLevel('info')).toBe(true);
  expect(isBuiltInLevel('constructor')).toBe(false);
});
