import { onTestFinished } from 'vitest';
import {
  appHeaders,
  basic,
  type NtfyEvent,
  type NtfyStream,
  parseStrictly,
  subscribe,
  subscribeSocket,
} from '#test/support/ntfy-client.ts';
import type { TestServer } from '#test/support/server.ts';

const closing = <S extends NtfyStream>(stream: S): S => {
  onTestFinished(() => stream.close());
  return stream;
};
export const isMessage = ({ event }: NtfyEvent) => event === 'message';
export const titled = (title: string) => (event: NtfyEvent) => event.title === title;

/** A tenant with a phone's token. */
export async function phoneWorld(server: TestServer) {
  const { tenant, key, send, call } = await server.newTenant();
  const phone = await server.token({ tenant, scopes: ['panel'], name: 'phone' });
  const open = async (path: string, token = phone) =>
    closing(await subscribe(`${server.url}/ntfy/${path}`, appHeaders(token)));
  const openSocket = async (path: string, token = phone) =>
    closing(await subscribeSocket(`${server.url}/ntfy/${path}`, appHeaders(token)));
  const get = (path: string, token = phone) => server.call('GET', `/ntfy/${path}`, { headers: basic(token) });
  const poll = async (path: string, token = phone) =>
    (await get(path, token)).text.split('\n').filter(Boolean).map(parseStrictly);
  const panels = async () => (await call('GET', '/api/panels')).json.panels;
  const register = async (name: string, tags: string[] = []): Promise<string> =>
    (await call('POST', '/api/panels', { name, tags })).json.id;
  return { tenant, key, phone, send, call, open, openSocket, get, poll, panels, register };
}
