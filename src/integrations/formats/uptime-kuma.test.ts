import { expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import { read, retryKeys } from '#test/support/integration.ts';
import { uptimeKuma } from './uptime-kuma.ts';

/** As Uptime Kuma 1.23 sends it. */
const down = {
  heartbeat: {
    monitorID: 3,
    status: 0,
    time: '2026-11-22 20:00:00.000',
    msg: 'connect ECONNREFUSED 10.0.0.5:443',
    important: true,
    duration: 60,
    timezone: 'Europe/Berlin',
    timezoneOffset: '+01:00',
    localDateTime: '2026-11-22 21:00:00',
  },
  monitor: {
    id: 3,
    name: 'Shop',
    url: 'https://shop.example.org/',
    hostname: null,
    port: null,
    type: 'http',
    tags: [
      { tag_id: 1, monitor_id: 3, value: 'prod', name: 'env', color: '#059669' },
      { tag_id: 1, monitor_id: 3, value: 'test', name: 'env', color: '#059669' },
      { tag_id: 2, monitor_id: 3, value: null, name: 'Web shop', color: '#2563EB' },
    ],
  },
  msg: '[Shop] [🔴 Down] connect ECONNREFUSED 10.0.0.5:443',
};
const up = {
  ...down,
  heartbeat: { ...down.heartbeat, status: 1, msg: '200 - OK', time: '2026-11-22 20:05:00.000' },
};

it('a monitor that goes down and comes up again has one key', () => {
  const common = {
    ...noTexts,
    ttl: null,
    host: 'shop.example.org',
    url: 'https://shop.example.org/',
    key: 'uptime-kuma:3',
    labels: labelsText({ env: 'prod', Web_shop: '' }),
  };
  expect(read(uptimeKuma, down)).toEqual([
    {
      ...common,
      title: 'Shop is down',
      message: 'connect ECONNREFUSED 10.0.0.5:443',
      level: 'error',
      ttl: 0,
    },
  ]);
  expect(read(uptimeKuma, up)).toEqual([
    { ...common, title: 'Shop is up', message: '200 - OK', level: 'success' },
  ]);
  expect(retryKeys(uptimeKuma, down)).toEqual(retryKeys(uptimeKuma, structuredClone(down)));
  expect(retryKeys(uptimeKuma, down)).not.toEqual(retryKeys(uptimeKuma, up));
});

it('a monitor without a URL is about its host', () => {
  const monitor = { ...down.monitor, type: 'ping', hostname: '10.0.0.7', url: 'https://' };
  expect(read(uptimeKuma, { ...down, monitor })[0]).toMatchObject({ ip: '10.0.0.7', host: null, url: null });
});

it('a test of the connection, and whatever is no heartbeat, is its sentence', () => {
  const test = { heartbeat: null, monitor: null, msg: 'My Webhook Testing' };
  expect(read(uptimeKuma, test)[0]).toMatchObject({
    title: 'Uptime Kuma',
    message: 'My Webhook Testing',
    level: 'info',
  });
  expect(retryKeys(uptimeKuma, test)).toEqual([null]);
});

it('a certificate or a domain that will expire is a warning', () => {
  const msg = '[Shop][https://shop.example.org] server certificate shop.example.org will expire in 7 days';
  const expiry = { heartbeat: null, monitor: null, msg };
  expect(read(uptimeKuma, expiry)[0]).toMatchObject({ message: msg, level: 'warning' });
  expect(read(uptimeKuma, expiry, { query: 'level=expiry:error' })[0]?.level).toBe('error');
});

it.each([{}, { heartbeat: 'x' }, { heartbeat: { status: 9 } }, [], 'x'])('%j is refused', (body) => {
  expect(() => read(uptimeKuma, body)).toThrow(/must be/);
});

it('a monitor that is renamed while it is down keeps its key', () => {
  const renamed = { ...up, monitor: { ...up.monitor, name: 'Webshop' } };
  expect(read(uptimeKuma, renamed)[0]?.key).toBe(read(uptimeKuma, down)[0]?.key);
});
