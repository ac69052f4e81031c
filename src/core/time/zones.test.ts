import { expect, test } from 'vitest';
import { zoneOffset } from './time.ts';

const hourMs = 3_600_000;

test('the offset of a zone is right at each quarter of an hour around a change, in whichever order it is asked', () => {
  for (const [zone, change, before, after] of [
    ['Europe/Berlin', '2026-10-25T01:00:00Z', 2, 1],
    ['Europe/Berlin', '2027-03-28T01:00:00Z', 1, 2],
    ['Australia/Lord_Howe', '2026-10-03T15:30:00Z', 10.5, 11],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', -10, 14],
  ] as const) {
    const times = Array.from({ length: 400 }, (_, i) => Date.parse(change) + (i - 200) * 900_000);
    for (const at of [...times, ...times.toReversed()])
      expect(zoneOffset(at, zone)).toBe((at < Date.parse(change) ? before : after) * hourMs);
  }
});
