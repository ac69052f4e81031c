import { describe, expect, it } from 'vitest';
import { type ClockState, TrustedClock } from './trusted-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const start = Date.UTC(2026, 0, 1);

/** A machine: its clock can be set, and time passes. */
class Machine {
  wall = start;
  monotonicNow = 500;
  changes: string[] = [];
  clock: TrustedClock;

  constructor(remembered?: ClockState) {
    this.clock = this.boot(remembered);
  }

  boot(remembered: ClockState | undefined): TrustedClock {
    this.monotonicNow = Math.random() * 1_000;
    this.clock = new TrustedClock({
      now: () => this.wall,
      monotonicNow: () => this.monotonicNow,
      remembered,
      onChange: (change) => this.changes.push(change),
    });
    return this.clock;
  }

  /** Runs for some time, looking at the clock every minute. */
  run(ms: number): void {
    for (let left = ms; left > 0; left -= 60_000) {
      this.wall += 60_000;
      this.monotonicNow += 60_000;
      this.clock.observe();
    }
  }

  /** Is off for some time, and starts with what it remembered. */
  off(ms: number, jump = 0): void {
    const { state } = this.clock;
    this.wall += ms + jump;
    this.boot(state);
  }

  /** How far the trusted time is from the clock's. */
  get behind(): number {
    return this.wall - this.clock.now();
  }
}

describe('the trusted clock', () => {
  it('is the clock while that runs evenly, is corrected a little, or the machine sleeps a little', () => {
    const machine = new Machine();
    machine.run(3 * hour);
    machine.wall += hour / 2;
    expect(machine.behind).toBe(0);
    machine.run(2 * hour);
    machine.wall -= hour / 2;
    expect(machine.behind).toBe(0);
    machine.run(hour);
    expect(machine.changes).toEqual([]);
  });

  it('goes on as before when the clock jumps, and accepts the jump after a day', () => {
    const machine = new Machine();
    machine.run(hour);
    machine.wall += year;
    expect(machine.behind).toBe(year);
    machine.run(day - 10 * 60_000);
    expect(machine.behind).toBe(year);
    machine.run(20 * 60_000);
    expect(machine.behind).toBe(0);
    expect(machine.changes).toEqual(['jumped', 'accepted']);
  });

  it('forgets a jump that is taken back', () => {
    const machine = new Machine();
    machine.wall += year;
    machine.run(5 * hour);
    machine.wall -= year;
    machine.run(5 * hour);
    expect(machine.behind).toBe(0);
    expect(machine.changes).toEqual(['jumped', 'restored']);
  });

  it('does not run ahead of a clock that was set back', () => {
    const machine = new Machine();
    machine.run(hour);
    machine.wall -= year;
    machine.run(hour);
    expect(machine.behind).toBe(0);
    machine.run(day);
    expect(machine.changes).toEqual(['jumped', 'accepted']);
  });

  it('starts the day anew when the clock jumps again', () => {
    const machine = new Machine();
    machine.wall += 2 * hour;
    machine.run(23 * hour);
    machine.wall += year;
    machine.run(2 * hour);
    expect(machine.behind).toBeCloseTo(year + 2 * hour, -5);
    machine.off(60_000, year);
    machine.run(2 * hour);
    expect(machine.behind).toBeGreaterThan(2 * year);
  });

  it('takes a long stop for a jump, as it cannot tell them apart, and a machine that is off every night still moves on', () => {
    const machine = new Machine();
    machine.run(hour);
    machine.off(30 * day);
    expect(machine.behind).toBe(30 * day);
    machine.run(day + hour);
    expect(machine.behind).toBe(0);
    for (let night = 0; night < 4; night++) {
      machine.off(12 * hour);
      machine.run(12 * hour);
    }
    expect(machine.behind).toBeLessThanOrEqual(3 * day);
    expect(machine.changes.filter((change) => change === 'accepted').length).toBeGreaterThan(1);
  });

  it('remembers a jump across a restart', () => {
    const machine = new Machine();
    machine.wall += year;
    machine.run(2 * hour);
    machine.off(10 * 60_000);
    machine.run(2 * hour);
    expect(machine.behind).toBeGreaterThan(year - day);
    machine.run(day);
    expect(machine.behind).toBe(0);
  });
});
