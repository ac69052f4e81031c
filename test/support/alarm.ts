/** An alarm as the HTTP interface describes it, for tests of pages. */
import type { Alarm } from '#contract/history/alarm.ts';

let count = 0;

export function testAlarm(given: Partial<Alarm> = {}): Alarm {
  count += 1;
  const at = given.since ?? new Date(Date.UTC(2026, 10, 20) - count * 60_000).toISOString();
  return {
    id: `id-${count}`,
    position: count,
    title: 'Disk full',
    message: 'm',
    level: 'error',
    rank: 40,
    ttl: 0,
    host: null,
    ip: null,
    url: null,
    key: null,
    labels: {},
    sourceIp: '10.0.0.1',
    receivedAt: at,
    expiresAt: null,
    escalated: null,
    state: 'open',
    token: { id: 't', name: 'ci' },
    origin: null,
    rules: [],
    target: { all: true, ids: [], tags: [] },
    panels: [],
    panelCount: 1,
    sent: { level: 'error', ttl: null },
    throttledOn: null,
    cleared: null,
    acknowledged: null,
    receipts: { shown: 0, expired: 0, cleared: 0 },
    since: at,
    count: 1,
    highestLevel: 'error',
    ...{ shelved: null, owner: null, suppressedBy: null, suppresses: 0 },
    ...{ escalation: { next: null, from: null, to: null }, instructions: [], runbook: null },
    shownOn: [],
    ...given,
  };
}
