import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { UUID } from 'uuidv7';
import { describe, expect, it } from 'vitest';
import { idAheadMs, idempotencyOf, newNotificationId } from './idempotency.ts';
import { checkFields, type SentFields } from './notification.ts';

/** The time in an id, in Unix milliseconds. */
const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('ids of notifications', () => {
  it('are UUIDs of version 7 that hold the time', () => {
    const now = Date.now() + 86_400_000;
    const id = newNotificationId(now);
    expect(UUID.parse(id).toString()).toBe(id);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('ascend, each another, within a millisecond and when the clock goes back a little', () => {
    const now = Date.now() + 2 * 86_400_000;
    const ids = Array.from({ length: 5_000 }, (_, i) =>
      newNotificationId(now + (i % 7 === 0 ? -50 : i >> 8)),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('go on when the clock goes back by hours', () => {
    const now = Date.now();
    const before = newNotificationId(now + 3 * 86_400_000);
    const after = newNotificationId(now);
    expect(after).not.toBe(before);
    expect(Number.parseInt(after.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('are never older than their notification, and ahead of it by a bound, whichever way the clock steps', () => {
    const steps = fc.oneof(fc.integer({ min: -12_000, max: 12_000 }), fc.integer({ min: -1e12, max: 1e12 }));
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 200 }), (all) => {
        let now = Date.now();
        for (const step of all) {
          now = Math.max(0, now + step);
          const ahead = timeOfId(newNotificationId(now)) - now;
          expect(ahead).toBeGreaterThanOrEqual(0);
          expect(ahead).toBeLessThanOrEqual(idAheadMs);
        }
      }),
    );
  });
});

describe('the hash of what is sent again', () => {
  const hashOf = (over: SentFields) =>
    idempotencyOf({ key: 'k' }, checkFields({ title: 'T', message: 'M', ...over })).hash;

  it('is that of version 0.9.0 without labels, and depends on each label but not on their order', () => {
    const sent = '{"title":"T","message":"M","level":"info"}';
    expect(hashOf({})).toBe(createHash('sha256').update(sent).digest('base64url'));
    expect(hashOf({ labels: {} })).toBe(hashOf({}));
    expect(hashOf({ labels: { a: '1', b: '2' } })).toBe(hashOf({ labels: { b: '2', a: '1' } }));
    expect(hashOf({ labels: { a: '1' } })).not.toBe(hashOf({ labels: { a: '2' } }));
    expect(hashOf({ labels: { a: '' } })).not.toBe(hashOf({}));
  });
});
