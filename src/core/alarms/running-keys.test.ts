import { expect, test } from 'vitest';
import { RunningKeys } from './running-keys.ts';
import type { DueTime } from './schedule.ts';

function open() {
  let at = 0;
  let reads = 0;
  const rows = new Map<string, boolean>();
  const answers: (() => void)[] = [];
  const list = async () => {
    reads += 1;
    const all = [...rows].map(([subject, isStart]) => ({ subject, data: { isStart } }) as DueTime);
    await new Promise<void>((resolve) => answers.push(resolve));
    return all;
  };
  const running = new RunningKeys({ list }, () => at);
  const answer = () => answers.splice(0).forEach((each) => void each());
  const has = async (key: string) => {
    const asked = running.has(1, key);
    answer();
    return await asked;
  };
  const pass = (ms: number) => {
    at += ms;
  };
  return { running, rows, has, answer, pass, reads: () => reads };
}

test('the keys are read once in five seconds, and again when they have changed', async () => {
  const { running, rows, has, pass, reads } = open();
  rows.set('a', true).set('b', false);
  expect([await has('a'), await has('b'), await has('c')]).toEqual([true, false, false]);
  expect([running.has(1, 'a'), reads()]).toEqual([true, 1]);
  rows.set('c', true);
  expect(running.has(1, 'c')).toBe(false);
  running.forget(1);
  expect(await has('c')).toBe(true);
  rows.delete('c');
  pass(5_000);
  expect([await has('c'), reads()]).toEqual([false, 3]);
});

test('keys that change while they are read are read again', async () => {
  const { running, rows, has, answer } = open();
  const asked = running.has(1, 'a');
  rows.set('a', true);
  running.forget(1);
  answer();
  expect(await asked).toBe(false);
  expect(await has('a')).toBe(true);
});

test('keys that could not be read are read again', async () => {
  let fails = true;
  const list = async () => {
    if (fails) throw new Error('the database is away');
    return [];
  };
  const running = new RunningKeys({ list }, () => 0);
  await expect(running.has(1, 'a')).rejects.toThrow('the database is away');
  fails = false;
  expect(await running.has(1, 'a')).toBe(false);
});
