import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IntakeGate } from './overload.ts';

describe('the gate of intake', () => {
  let now = 1_000;
  let gate: IntakeGate;
  beforeEach(() => {
    vi.useFakeTimers();
    gate = new IntakeGate(() => now);
  });
  afterEach(() => vi.useRealTimers());

  const enter = (count: number) => Array.from({ length: count }, () => gate.enter());

  it('lets in a burst of any size, as nobody has waited yet', () => {
    expect(enter(5_000)).not.toContain(undefined);
  });

  it('refuses once the oldest has waited too long, until it is answered', () => {
    const [first, ...others] = enter(300);
    now += 150;
    const later = gate.enter();
    expect(later).toBeDefined();
    now += 100;
    expect(gate.enter()).toBeUndefined();
    for (const leave of [first, ...others]) leave?.();
    expect(gate.enter()).toBeDefined();
  });

  it('refuses nobody while only a few are under way, however long the disk takes', () => {
    enter(255);
    now += 60_000;
    expect(gate.enter()).toBeDefined();
    expect(gate.enter()).toBeUndefined();
  });

  it('holds refusals back for a moment, and tells all that gathered at once', () => {
    const told: number[] = [];
    for (const n of [1, 2, 3]) gate.hold(() => told.push(n));
    vi.advanceTimersByTime(300);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(200);
    expect(told).toEqual([1, 2, 3]);
    gate.hold(() => told.push(4));
    vi.advanceTimersByTime(500);
    expect(told).toEqual([1, 2, 3, 4]);
  });
});
