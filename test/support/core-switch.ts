/** A core switch, and hosts that cannot be reached while it is down: for tests of suppressed alarms. */
import type { TestServer } from './server.ts';

/** Stores the rule by which the hosts of a site follow its core switch; returns what sends both. */
export async function coreSwitch(server: TestServer, tenant = 'default') {
  const key = await server.key('admin', tenant);
  const token = await server.token({ tenant });
  const rule = {
    name: 'Hosts follow their core switch',
    when: { labels: { role: ['core'] } },
    then: { suppress: { when: { title: { contains: 'unreachable' } }, equal: ['label:site'] } },
  };
  const { status, text } = await server.call('POST', '/api/rules', { token: key, json: rule });
  if (status !== 201) throw new Error(text);
  const send = async (over: { title: string; level: string; host: string; labels: Record<string, string> }) =>
    (await server.notify(token, { message: 'No answer', ttl: 0, ...over })).json.id as string;
  return {
    key,
    token,
    /** Sends the alarm of the switch; returns its id. */
    switchDown: () =>
      send({
        ...{ title: 'Core switch down', level: 'critical', host: 'core-1' },
        labels: { role: 'core', site: 'plant 2' },
      }),
    hostDown: (host: string) =>
      send({ title: 'Host unreachable', level: 'error', host, labels: { site: 'plant 2' } }),
    clear: (id: string) => server.call('POST', `/api/alarms/${id}/clear`, { token: key }),
  };
}
