import { afterAll, beforeAll, expect, test } from 'vitest';
import { mintSecret, secretMatches } from '#core/people/secrets.ts';
import { makePerson, password } from '#test/support/person.ts';
import { TestServer } from '#test/support/server.ts';
import { report } from '../report.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => server.stop());

/** How long each of several ways takes, in turn, so that what disturbs the machine disturbs all alike; medians in ns. */
function medians(ways: readonly (() => unknown)[], rounds: number, batch: number): number[] {
  const times = ways.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    // Another order each round: none always comes after the same one.
    for (let i = 0; i < ways.length; i++) {
      const which = (i + round) % ways.length;
      const started = process.hrtime.bigint();
      for (let n = 0; n < batch; n++) ways[which]?.();
      times[which]?.push(Number(process.hrtime.bigint() - started) / batch);
    }
  }
  return times.map((all) => median(all));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

/** By how much a way that is wrong late differs from one that is wrong early, as a share; and what chance makes of it. */
function leak(
  matches: (secret: string) => boolean,
  early: string,
  late: string,
): { share: number; chance: number } {
  const ways = [early, early, late].map((secret) => () => matches(secret));
  medians(ways, 200, 20);
  const [one = 0, same = 0, other = 0] = medians(ways, 2_000, 20);
  return { share: Math.abs(other - one) / one, chance: Math.abs(same - one) / one };
}

test('how much of a secret is right cannot be seen from the time its check takes; the same test tells it of one that leaks', () => {
  const { hash, text } = mintSecret('token');
  const secret = text.split('_')[2] as string;
  const flipped = (at: number) =>
    `${secret.slice(0, at)}${secret[at] === 'x' ? 'y' : 'x'}${secret.slice(at + 1)}`;
  const ours = leak((given) => secretMatches(hash, given), flipped(0), flipped(31));
  const leaky = leak(
    (given) => {
      for (let i = 0; i < secret.length; i++) {
        if (given.charCodeAt(i) !== secret.charCodeAt(i)) return false;
        for (let slow = 0; slow < 20; slow++) Math.imul(slow, given.charCodeAt(i));
      }
      return true;
    },
    flipped(0),
    flipped(31),
  );
  report({
    promise: 'the time to check a token reveals nothing about it',
    method: 'first against last character wrong, in turn; for comparison, a check that leaks on purpose',
    count: '3 × 40,000 checks each',
    result: `${(ours.share * 100).toFixed(2)} % apart (the same twice: ${(ours.chance * 100).toFixed(2)} %); the one that leaks ${(leaky.share * 100).toFixed(0)} %`,
  });
  expect(leaky.share).toBeGreaterThan(0.5);
  expect(ours.share).toBeLessThan(Math.max(0.05, 4 * ours.chance));
});

test('whether there is an account cannot be seen from the time of a wrong password, nor from the answer', async () => {
  const { email } = await makePerson(server, 'viewer');
  const attempt = async (who: string): Promise<{ ms: number; text: string }> => {
    const started = performance.now();
    const { status, text } = await server.call('POST', '/api/session', {
      json: { email: who, password: `not ${password}` },
      headers: { origin: server.url },
    });
    expect(status).toBe(401);
    return { ms: performance.now() - started, text };
  };
  await attempt(email);
  const [known, unknown, none]: [number[], number[], number[]] = [[], [], []];
  const texts = new Set<string>();
  for (let i = 0; i < 25; i++) {
    const [there, nowhere] = [await attempt(email), await attempt(`nobody${i}@example.org`)];
    known.push(there.ms);
    unknown.push(nowhere.ms);
    const noAddress = await attempt(`no address ${i}`);
    none.push(noAddress.ms);
    texts.add(there.text).add(nowhere.text).add(noAddress.text);
  }
  const ratios = [unknown, none].map((times) => median(known) / median(times));
  report({
    promise: 'neither time nor answer reveals whether an account exists',
    method:
      'wrong passwords for an existing account, for missing ones, and for texts that are no address, alternating',
    count: '25 each',
    result: `medians ${[known, unknown, none].map((times) => median(times).toFixed(1)).join(', ')} ms, ${texts.size} form of answer`,
  });
  expect(texts.size).toBe(1);
  // Without a hash worked out for nobody it would be fifty to one.
  for (const ratio of ratios) {
    expect(ratio).toBeGreaterThan(0.6);
    expect(ratio).toBeLessThan(1.7);
  }
});
