import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, retryKeys } from '#test/support/integration.ts';
import { alertCases } from '#test/support/webhooks-of-alerts.ts';
import { monitorCases } from '#test/support/webhooks-of-monitors.ts';
import { repositoryCases } from '#test/support/webhooks-of-repositories.ts';
import type { Format } from './format.ts';
import { findWebhook, webhookNames } from './formats.ts';

const load = (name: string): Promise<Format> => (findWebhook(name) as { load(): Promise<Format> }).load();

const cases = { ...monitorCases, ...alertCases, ...repositoryCases };

const alert = {
  status: 'firing',
  labels: { alertname: 'A', instance: 'db-01:9100', severity: 'warning' },
  annotations: { summary: 's', description: 'd' },
  startsAt: '2026-11-22T20:00:00Z',
  generatorURL: 'http://a/',
};
const group = { alerts: [alert], truncatedAlerts: 1, groupKey: 'g', externalURL: 'http://a/' };
/** Formats with a test file of their own: a payload of each. */
const elsewhere: Readonly<Record<string, unknown>> = {
  alertmanager: group,
  grafana: group,
  sns: {
    Type: 'Notification',
    MessageId: 'm',
    TopicArn: 'a:b',
    Message: '{"AlarmName":"a","NewStateValue":"OK"}',
  },
  'uptime-kuma': {
    heartbeat: { monitorID: 1, status: 0, time: 't', msg: 'm' },
    monitor: { id: 1, name: 'n', url: 'https://a/', hostname: 'h', tags: [{ name: 'a', value: 'b' }] },
    msg: 'm',
  },
};

it('every format has its cases', () => {
  expect([...Object.keys(elsewhere), ...Object.keys(cases)].toSorted()).toEqual(webhookNames.toSorted());
});

it('each is loaded when a sender first uses it, so that a server without them stays small', () => {
  const text = readFileSync(join(import.meta.dirname, 'formats.ts'), 'utf8');
  expect(text.match(/^import .*/gm)).toEqual(["import type { Format } from './format.ts';"]);
  const http = join(import.meta.dirname, '../http/intake');
  const eager = readdirSync(http)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(join(http, name), 'utf8').matchAll(/from '#integrations\/([^']+)'/g)])
    .map(([, module]) => module);
  expect([...new Set(eager)].toSorted()).toEqual(['format.ts', 'formats.ts', 'payload.ts']);
});

describe.each(Object.entries(cases))('%s', (name, ofFormat) => {
  it.each(ofFormat)('takes $what', async ({ body, headers = {}, items, once }) => {
    const format = await load(name);
    expect(read(format, body, { headers })).toMatchObject(items);
    expect(read(format, body, { headers })).toHaveLength(items.length);
    const keys = retryKeys(format, body, { headers });
    if (once) expect(keys).toEqual(items.map(() => expect.any(String)));
    expect(retryKeys(format, structuredClone(body), { headers })).toEqual(keys);
  });
});

const bodies = [
  ...Object.entries(elsewhere).map(([name, body]) => ({ name, body, headers: {} })),
  ...Object.entries(cases).flatMap(([name, ofFormat]) =>
    ofFormat.map(({ what, body, headers = {} }) => ({ name: `${name}: ${what}`, body, headers })),
  ),
];

it.each(bodies)('any type in any place is refused or taken: $name', async ({ name, body, headers }) => {
  const format = await load(name.split(':')[0] ?? '');
  const odd = [null, 0, -1, 1e300, true, '', ' ', 'x', 'constructor', '\ud800', [], [null], {}, [[1]]];
  odd.push({ a: {} }, { toString: 1 });
  for (const path of pathsOf(body)) {
    for (const value of odd) {
      try {
        read(format, replaced(body, path, value), { headers });
      } catch (error) {
        expect([path, value, error]).toEqual([path, value, expect.objectContaining({ code: 'bad-request' })]);
      }
    }
  }
});

/** The path of every value in a value, itself first. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = structuredClone(value) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}
