import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pixelShift, reloadIfNew, reloadOnCommand } from './unattended.ts';

const reload = vi.fn();
const stored = new Map<string, string>();
let answer: { ok: boolean; html: string };

beforeEach(() => {
  vi.stubGlobal('document', { querySelector: () => ({ src: 'https://belfry.example/assets/panel-old.js' }) });
  vi.stubGlobal('location', { pathname: '/panel', reload });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  vi.stubGlobal('fetch', async () => ({ ok: answer.ok, text: async () => answer.html }));
});
afterEach(() => {
  vi.unstubAllGlobals();
  reload.mockClear();
  stored.clear();
});

test('a page of another version is loaded, once in a while at most', async () => {
  answer = { ok: true, html: '<script src="/assets/panel-new.js">' };
  await reloadIfNew();
  await reloadIfNew();
  expect(reload).toHaveBeenCalledOnce();
});

test.each([
  ['the same page', true, '<script src="/assets/panel-old.js">'],
  ['a page of something in between', true, '<h1>Maintenance</h1>'],
  ['an error', false, '<script src="/assets/panel-new.js">'],
])('%s is no reason to leave this one', async (_, ok, html) => {
  answer = { ok, html };
  await reloadIfNew();
  expect(reload).not.toHaveBeenCalled();
});

test('a reload command is obeyed once a minute at most', () => {
  vi.useFakeTimers();
  expect([reloadOnCommand(), reloadOnCommand()]).toEqual([true, false]);
  vi.advanceTimersByTime(61_000);
  expect(reloadOnCommand()).toBe(true);
  expect(reload).toHaveBeenCalledTimes(2);
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(reloadOnCommand()).toBe(true);
  vi.useRealTimers();
});

test('the picture wanders by a few pixels, and comes back to its place', () => {
  const places = Array.from({ length: 9 }, (_, n) => pixelShift(n * 180_000));
  expect(new Set(places.map(String)).size).toBe(9);
  for (const [x, y] of places) expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThanOrEqual(4);
  expect(pixelShift(9 * 180_000)).toEqual([0, 0]);
  expect(pixelShift(179_999)).toEqual([0, 0]);
});
