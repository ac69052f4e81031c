import { beforeEach, expect, test } from 'vitest';
import { createElapsedClock, type ElapsedClock } from './timing.ts';

const start = Date.parse('2026-11-20T10:00:00.000Z');
const hourMs = 3_600_000;
let [ticks, wall, server] = [0, 0, 0];
let clock: ElapsedClock;

beforeEach(() => {
  [ticks, wall, server] = [5_000, start, start];
  clock = createElapsedClock({ wall: () => wall, ticks: () => ticks });
  clock.observe(server);
});

/** Both clocks and the ticks go on, then the server sends its time. */
function pass(ms: number): void {
  [ticks, wall, server] = [ticks + ms, wall + ms, server + ms];
  clock.observe(server);
}

test.each([
  ['ahead', hourMs],
  ['back', -hourMs],
])('a clock that is set %s, here or at the server, is no time that passed', (_, step) => {
  wall += step;
  pass(15_000);
  expect(clock.now()).toBe(start + 15_000);
  server += step;
  pass(15_000);
  expect(clock.now()).toBe(start + 30_000);
});

test('while the device sleeps time passes: its own clock and the server agree on it', () => {
  wall += hourMs;
  server += hourMs;
  pass(15_000);
  expect(clock.now()).toBe(start + hourMs + 15_000);
});

test('the delay of messages adds up to nothing', () => {
  for (let n = 0; n < 1_000; n++) {
    wall += 2;
    server += n % 2 === 0 ? 40 : -40;
    pass(15_000);
  }
  expect(clock.now()).toBe(start + 15_000_000);
});
