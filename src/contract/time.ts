/** Durations as people write them, such as 90d and 30s, and as they read them. */

const unitMs = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const;

/** Parses 90d or 30s to milliseconds; undefined unless it is a whole number and one of the units s, m, h, d, w. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,12})(s|m|h|d|w)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * unitMs[unit as keyof typeof unitMs];
}

/** As {@link parseDuration}; also accepts milliseconds, as 1500 or 1500ms. */
export function parseDurationOrMs(text: string): number | undefined {
  const digits = /^(\d{1,12})(?:ms)?$/.exec(text)?.[1];
  return digits === undefined ? parseDuration(text) : Number(digits);
}

const readUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

interface DurationPart {
  readonly amount: number;
  /** The symbol, which is the same in every language of the pages. */
  readonly unit: (typeof readUnits)[number][0] | 'ms';
}

/** The largest units of a duration, rounded down: [15 h, 32 min]. Milliseconds only below one second. */
export function durationParts(ms: number, mostUnits = 2): readonly DurationPart[] {
  let rest = Math.max(0, Math.floor(ms));
  if (rest > 0 && rest < 1_000) return [{ amount: rest, unit: 'ms' }];
  const parts: DurationPart[] = [];
  for (const [unit, length] of readUnits) {
    const amount = Math.floor(rest / length);
    if (amount > 0) parts.push({ amount, unit });
    rest -= amount * length;
  }
  return parts.length === 0 ? [{ amount: 0, unit: 's' }] : parts.slice(0, mostUnits);
}

/** As in "340 ms", "2 s", "10 min", "15 h 32 min", "3 d". */
export const durationText = (ms: number, mostUnits = 2): string =>
  durationParts(ms, mostUnits)
    .map(({ amount, unit }) => `${amount} ${unit}`)
    .join(' ');

/** How long ago, or how long until: the largest unit of whole seconds, as in "0 s", "48 s", "2 min", "5 d". */
export const ageText = (ms: number): string => durationText(Math.floor(ms / 1_000) * 1_000, 1);

/** As rules write them; apart from the rule's schema, which no page should have to load for seven words. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
