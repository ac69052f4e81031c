import { setTimeout as moment } from 'node:timers/promises';
import { checkHistory, problemsOf, type Recorded } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { ResumingPanel, readHistory, readHistoryAfter } from '../api-clients.ts';
import { full } from '../counts.ts';

export interface KillOptions {
  readonly folder: string;
  readonly kills: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface KillOutcome {
  readonly kills: number;
  /** What the history checker holds against it; after the first problem nothing more is killed. */
  readonly problems: readonly string[];
  readonly acknowledged: number;
  readonly unknown: number;
  /** From the start of the process to ready, of each start. */
  readonly readyMs: readonly number[];
  /** How each connection of the panel went on. */
  readonly resumes: readonly string[];
}

/** A kill comes at once to this long after the load began. In the short form it comes sooner: each is one all the same. */
const latestKillMs = full ? 900 : 300;

/** Kills a server under load again and again, on the same data, with eight senders and a panel that resumes; checks each time. */
export async function killAgain({ folder, kills, env = {} }: KillOptions): Promise<KillOutcome> {
  const { token, key } = await credentials(folder);
  const load = new Load({ token, writers: 8 });
  const panel = new ResumingPanel('wall');
  const history: Recorded[] = [];
  const readyMs: number[] = [];
  const restart = async (port: number) => {
    const server = await ServerProcess.start({ folder, port, env });
    readyMs.push(server.readyMs);
    history.push(...(await readHistoryAfter(server.url, key, history.length)));
    await panel.connect(server.url, token);
    return server;
  };

  let server = await restart(0);
  let found: string[] = [];
  let done = 0;
  while (done < kills && found.length === 0) {
    load.start(server.url);
    await moment(Math.random() * latestKillMs);
    await server.end('SIGKILL');
    await Promise.all([load.ended(), panel.ended]);
    server = await restart(server.port);
    done += 1;
    found = problemsOf(checkHistory(load.sent, history));
  }

  const whole = await readHistory(server.url, key);
  // Where it does not get there, its log says so.
  await panel.reached(whole.length).catch(() => undefined);
  const verdict = checkHistory(load.sent, whole, [panel.log(whole.length)]);
  await server.end('SIGTERM');
  const { acknowledged } = load;
  const { unknown } = verdict;
  return {
    kills: done,
    problems: [...new Set([...found, ...problemsOf(verdict)])],
    acknowledged,
    unknown,
    readyMs,
    resumes: panel.resumes,
  };
}
