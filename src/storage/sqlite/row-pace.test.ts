import { expect, test } from 'vitest';
import { RowPace } from './row-pace.ts';

const bounds = { least: 10, most: 200 };

test('comes to what the work really takes, and stays within its bounds', () => {
  const pace = new RowPace(bounds, 0.1);
  expect(pace.rowsIn(8)).toBe(80);
  for (let i = 0; i < 60; i++) pace.took(pace.rowsIn(8), pace.rowsIn(8) / 5);
  expect(pace.rowsIn(8)).toBe(40);
  for (let i = 0; i < 60; i++) pace.took(40, 1_000);
  expect(pace.rowsIn(8)).toBe(10);
  for (let i = 0; i < 60; i++) pace.took(10, 0);
  expect(pace.rowsIn(8)).toBe(200);
});

test('believes at once that rows have become slow, however fast they were before', () => {
  const pace = new RowPace(bounds, 0.1);
  for (let i = 0; i < 60; i++) pace.took(200, 0.1);
  pace.took(200, 40);
  expect(pace.rowsIn(8)).toBe(40);
});

test('learns nothing from a few rows', () => {
  const pace = new RowPace(bounds, 0.1);
  for (let i = 0; i < 60; i++) pace.took(3, 50);
  expect(pace.rowsIn(8)).toBe(80);
});
