/** A server that is started by the command line, for the tests of commands that change what it serves. */
import { afterAll, beforeAll } from 'vitest';
import { Cli } from './cli.ts';
import { eventually } from './eventually.ts';

/** A server for all tests of the file; `cli` runs commands on its database. Call it outside of the tests. */
export function openCliServer() {
  const cli = new Cli();
  const server = { cli, url: '' };
  beforeAll(async () => {
    server.url = (await cli.serve()).url;
  });
  afterAll(() => cli.remove());
  return server;
}

/** Signs in with a password. Returns the status, and the session as a `Cookie` header. */
export async function signIn(url: string, email: string, password: string) {
  const response = await eventually(async () => {
    const answer = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    // The server checks few passwords at once, and refuses others on a busy machine.
    if (answer.status === 503) throw new Error(`signing in answers 503: ${await answer.text()}`);
    return answer;
  });
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0]);
  return { status: response.status, cookie: cookies.join('; ') };
}
