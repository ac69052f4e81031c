import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reloadAsTold, reloadWhenNew } from './page-version.ts';

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
  await reloadWhenNew();
  await reloadWhenNew();
  expect(reload).toHaveBeenCalledOnce();
});

test.each([
  ['the same page', true, '<script src="/assets/panel-old.js">'],
  ['a page of something in between', true, '<h1>Maintenance</h1>'],
  ['an error', false, '<script src="/assets/panel-new.js">'],
])('%s is no reason to leave this one', async (_, ok, html) => {
  answer = { ok, html };
  await reloadWhenNew();
  expect(reload).not.toHaveBeenCalled();
});

test('who is told to reload does so at once, and not again within a minute', () => {
  vi.useFakeTimers();
  expect([reloadAsTold(), reloadAsTold()]).toEqual([true, false]);
  vi.advanceTimersByTime(61_000);
  expect(reloadAsTold()).toBe(true);
  expect(reload).toHaveBeenCalledTimes(2);
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(reloadAsTold()).toBe(true);
  vi.useRealTimers();
});
