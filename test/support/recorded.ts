/** Notifications as a replay reads them, a second apart. */
import { noTexts } from '#contract/history/fields.ts';
import { everyPanel } from '#core/log/target.ts';
import type { Recorded } from '#core/routing/explain.ts';

export const panels = [
  { id: 'p1', name: 'wall 1', tags: ['noc'] },
  { id: 'p2', name: 'wall 2', tags: [] },
];
export const base = Date.parse('2026-11-02T12:00:00Z');
export const recorded = (i: number, given: Partial<Recorded> = {}): Recorded => ({
  ...noTexts,
  id: `n${i}`,
  receivedAt: base + i * 1000,
  title: `title ${i}`,
  message: 'm',
  level: 'warning',
  rank: 30,
  ttl: 120_000,
  sentLevel: 'warning',
  sentTtl: null,
  host: 'db-1',
  sourceIp: '10.0.0.1',
  tokenId: 't1',
  tokenName: 'ci',
  route: { revision: 1, rules: [], muted: false, target: everyPanel },
  throttledOn: null,
  ...given,
});
