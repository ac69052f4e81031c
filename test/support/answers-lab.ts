/** What tests of answers from other systems share: channels, and alarms that go to them. */
import { beforeEach } from 'vitest';
import type { AlarmDetail } from '#contract/history/alarm.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { TestServer } from './server.ts';

/** Each test has a tenant of its own. `server`: the one that runs then. */
export function createAnswersLab(prefix: string, server: () => TestServer) {
  let tenants = 0;
  const own = { tenant: '', key: '', token: '' };
  /** Makes a tenant, and works in it from then on. */
  const enter = async (tenant: string): Promise<void> => {
    const [key, token] = [await server().key('admin', tenant), await server().token({ tenant })];
    Object.assign(own, { tenant, key, token });
  };
  beforeEach(() => {
    tenants += 1;
    return enter(`${prefix}-${tenants}`);
  });
  const call = (method: string, path: string, json?: unknown, as = own.key) =>
    server().call(method, path, { token: as, ...(json !== undefined && { json }) });
  const channel = async (name: string, given: object, as = own.key): Promise<string> => {
    const { json, text } = await call('POST', '/api/channels', { name, ...given }, as);
    if (!json.id) throw new Error(text);
    return json.id;
  };
  return Object.assign(own, {
    ...{ enter, call, channel },
    /** A channel, and a rule by which everything goes to it. */
    usedChannel: async (name: string, given: object, as = own.key): Promise<string> => {
      const id = await channel(name, given, as);
      await call('POST', '/api/rules', { name, then: { channels: [name] }, continue: true }, as);
      return id;
    },
    alarm: async (over: object = {}, as = own.token): Promise<string> => {
      const sent = { title: 'Disk full', message: '93 %', level: 'error', key: 'disk', ...over };
      return (await server().notify(as, sent)).json.id;
    },
    alarmOf: async (id: string, as = own.key): Promise<AlarmDetail> =>
      (await call('GET', `/api/alarms/${id}`, undefined, as)).json,
    notificationOf: async (id: string): Promise<HistoryNotification> =>
      (await call('GET', `/api/notifications/${id}`)).json,
  });
}
