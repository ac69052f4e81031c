/** Durations as people write them, such as 90d and 30s. */

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
