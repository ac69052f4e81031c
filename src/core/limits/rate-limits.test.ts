import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limits.ts';

const rate = { perSecond: 2, burst: 3 };

describe('a token bucket', () => {
  it('is charged for work that is done, into a debt of at most its burst', () => {
    const limiter = new RateLimiter<string>({ countsTaken: true });
    limiter.charge('a', rate, 2, 0);
    expect(limiter.peek('a', rate, 0).remaining).toBe(1);
    limiter.charge('a', rate, 1_000, 0);
    expect(limiter.take('a', rate, 0)).toEqual({ allowed: false, remaining: 0, resetSeconds: 2 });
    expect(limiter.take('a', rate, 2_000).allowed).toBe(true);
    expect(limiter.collectTaken()).toMatchObject([{ key: 'a', count: 7 }]);
  });

  it('gives its burst at once, then nothing', () => {
    const limiter = new RateLimiter<string>();
    expect([1, 2, 3, 4].map(() => limiter.take('a', rate, 0).allowed)).toEqual([true, true, true, false]);
  });

  it('fills with time, never beyond its burst', () => {
    const limiter = new RateLimiter<string>();
    for (let i = 0; i < 3; i++) limiter.take('a', rate, 0);
    expect(limiter.take('a', rate, 499).allowed).toBe(false);
    expect(limiter.take('a', rate, 500).allowed).toBe(true);
    expect(limiter.take('a', rate, 500).allowed).toBe(false);
    expect(limiter.peek('a', rate, 3_600_000).remaining).toBe(3);
  });

  it('says what is left, and in how many seconds it is full or, when empty, has one again', () => {
    const limiter = new RateLimiter<string>();
    expect(limiter.take('a', rate, 0)).toEqual({ allowed: true, remaining: 2, resetSeconds: 1 });
    limiter.take('a', rate, 0);
    limiter.take('a', rate, 0);
    expect(limiter.take('a', { perSecond: 0.25, burst: 3 }, 0)).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 4,
    });
  });

  it('looking takes nothing', () => {
    const limiter = new RateLimiter<string>();
    for (let i = 0; i < 10; i++)
      expect(limiter.peek('a', rate, 0)).toEqual({ allowed: true, remaining: 3, resetSeconds: 0 });
  });

  it('a refusal costs nothing, so that refused callers do not push their own return away', () => {
    const limiter = new RateLimiter<string>();
    for (let i = 0; i < 50; i++) limiter.take('a', rate, i);
    expect(limiter.take('a', rate, 520).allowed).toBe(true);
  });

  it('keys do not share', () => {
    const limiter = new RateLimiter<number>();
    for (let i = 0; i < 4; i++) limiter.take(1, rate, 0);
    expect(limiter.peek(2, rate, 0).remaining).toBe(3);
  });

  it('a clock that jumps back neither fills nor blocks it', () => {
    const limiter = new RateLimiter<string>();
    for (let i = 0; i < 3; i++) limiter.take('a', rate, 1_000_000);
    expect(limiter.take('a', rate, 0).allowed).toBe(false);
    expect(limiter.take('a', rate, 500).allowed).toBe(true);
  });

  it('a smaller rate takes hold at once', () => {
    const limiter = new RateLimiter<string>();
    limiter.take('a', { perSecond: 1, burst: 100 }, 0);
    expect(limiter.take('a', { perSecond: 1, burst: 5 }, 0).remaining).toBe(4);
  });

  it('never gives more than burst + time × rate, whatever the order of calls', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2_000), { maxLength: 200 }), (steps) => {
        const limiter = new RateLimiter<string>();
        let now = 0;
        let given = 0;
        for (const step of steps) {
          now += step;
          if (limiter.take('a', rate, now).allowed) given += 1;
        }
        expect(given).toBeLessThanOrEqual(rate.burst + (now / 1000) * rate.perSecond + 1e-6);
      }),
    );
  });
});
