import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { missingNats, startNats } from '#test/support/nats.ts';
import { createDatabase, missingPostgres, startPostgres, withClient } from '#test/support/postgres.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';
import { Cluster } from './cluster.ts';
import { missingHaproxy } from './haproxy.ts';

const missing = skipReason(missingPostgres() ?? missingHaproxy() ?? missingNats());
const limit = { timeout: timeLimit(180_000), skip: missing !== undefined };

test(
  'a NATS server that is restarted loses nothing, repeats nothing, and leaves intake alone',
  limit,
  async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const nats = await startNats();
    onTestFinished(() => nats.stop());
    const url = await createDatabase(postgres.url);
    const cluster = await Cluster.start({ urls: [url, url], env: { BELFRY_BUS_URL: nats.url } });
    onTestFinished(() => cluster.stop());
    const restarts = countOf('natsRestarts');
    for (let i = 0; i < restarts; i++) {
      await cluster.answersAgain();
      await nats.restart(() => sleep(Math.random() * 500));
    }
    await cluster.answersAgain();
    const { problems, acknowledged } = await cluster.check();
    const statuses = [...cluster.load.statuses.keys()];
    report({
      promise: 'bus: restarted under load, nothing is lost or repeated, and intake goes on',
      method:
        'SIGKILL to the NATS server of two nodes under six senders; then every acknowledged id, every position and the lists of panels that resume are checked',
      count: `${restarts} restarts, ${acknowledged} acknowledged`,
      result: `${problems.length === 0 ? '0 lost, 0 phantom, 0 repeated' : problems.join('; ')}; answers ${statuses}`,
    });
    expect([problems, statuses]).toEqual([[], [200]]);
  },
);

/** What design forbids: positions that are handed out before the commit, by a sequence. */
const bareSequence = [
  [/ORDER BY tenant FOR UPDATE\) k/, ') k'],
  [/l\.head \+ row_number\(\) OVER \([^)]*\) AS position/, "nextval('bare_position') AS position"],
] as const;

test('control: positions from a bare sequence are caught', limit, async () => {
  const postgres = await startPostgres({ durable: true });
  onTestFinished(() => postgres.stop());
  const url = await createDatabase(postgres.url);
  const cluster = await Cluster.start({ urls: [url, url], panels: 0 });
  onTestFinished(() => cluster.stop());
  await cluster.load.stop();
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ text: string }>(
      "SELECT pg_get_functiondef('append_to_log(json, json)'::regprocedure) AS text",
    );
    let text = rows[0]?.text ?? '';
    for (const [sound, defective] of bareSequence) {
      expect(text).toMatch(sound);
      text = text.replace(sound, defective);
    }
    await client.query("SELECT set_config('belfry.tenant', 'all', false)");
    await client.query(`CREATE SEQUENCE bare_position; ${text}`);
    await client.query("SELECT setval('bare_position', greatest(1, (SELECT max(head) FROM logs)), true)");
  });
  cluster.goOn();
  await cluster.answersAgain();
  await postgres.restart(async () => undefined);
  await cluster.answersAgain();
  const { problems } = await cluster.check();
  expect(problems.join()).toMatch(/lost|stands where/);
});
