import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acceptedIds, seedOf, spread, storedIds, wrongWith } from '#test/support/fuzz.ts';
import { IntakeDesk } from '#test/support/intake.ts';
import { type RawAnswer, RawConnection } from '#test/support/raw-http.ts';
import { countOf, timeLimit } from '../counts.ts';
import { report } from '../report.ts';

const requests = countOf('brokenRequests');

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(() => desk.close());

it(`${requests} requests with broken bytes: no 5xx, no hang, errors of one field, nothing stored that was refused`, {
  timeout: timeLimit(120_000),
}, async () => {
  const bearer = `Authorization: Bearer ${desk.token}\r\n`;
  // Most of each request is text, where a change may well be one that is fine.
  const words = 'the disk of db-01 is nearly full, and so is its neighbour '.repeat(10);
  const json = JSON.stringify({ title: 'T', message: words, level: 'error', ttl: 5 });
  const bases = [
    `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer}Content-Type: application/json\r\nContent-Length: ${json.length}\r\nConnection: close\r\n\r\n${json}`,
    `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer}X-Title: T\r\nX-Message: =?utf-8?Q?M=C3=A9?= ${words}\r\nX-TTL: 5\r\nConnection: close\r\n\r\n`,
    `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`,
    `POST /api/notify HTTP/1.1\r\nHost: x\r\n${bearer}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${17 + words.length}\r\nConnection: close\r\n\r\ntitle=T&message=M${words}`,
    `POST /api/rules HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${desk.key}\r\nContent-Type: application/json\r\nContent-Length: 55\r\nConnection: close\r\n\r\n{"name":"r","when":{"host":["x"]},"then":{"mute":true}}`,
    `PUT /api/levels/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${desk.key}\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{"rank":33}`,
    `GET /api/panels HTTP/1.1\r\nHost: x\r\n${bearer}Accept: */*\r\nX-Forwarded-For: 10.0.0.1\r\nConnection: close\r\n\r\n`,
    `GET /api/history?q=level%3Aerror HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${desk.key}\r\nConnection: close\r\n\r\n`,
  ];
  const edit = fc.tuple(
    fc.constantFrom('flip', 'flip', 'set', 'insert', 'delete', 'repeat', 'cut', 'break'),
    fc.nat(),
    fc.nat({ max: 255 }),
    fc.integer({ min: 1, max: 20 }),
  );
  const cases = fc.sample(
    fc.tuple(fc.nat(bases.length - 1), fc.array(edit, { minLength: 1, maxLength: 3 })),
    { numRuns: requests, seed: seedOf('test/torture/input/bytes.test.ts') },
  );
  const known = await storedIds(desk);
  const accepted = new Set<string>();
  const problems: string[] = [];
  let silent = 0;
  await spread(cases, 50, async ([base, edits]) => {
    const bytes = edits.reduce(mutate, Buffer.from(bases[base] as string));
    const answers = await converse(bytes).catch((error: Error) => error);
    if (answers instanceof Error)
      return void problems.push(`${answers.message} to ${JSON.stringify(bytes.toString('latin1'))}`);
    if (answers.length === 0) silent += 1;
    for (const answer of answers) {
      const problem = wrongWith(answer);
      if (problem) problems.push(`${problem} to ${JSON.stringify(bytes.toString('latin1'))}`);
      for (const id of acceptedIds(answer)) accepted.add(id);
    }
  });
  report({
    promise: 'broken bytes: 0 answers 5xx, 0 hangs, errors of one field, nothing stored that was refused',
    method:
      'requests with up to three bytes or runs of bytes flipped, inserted, deleted, repeated or cut, on raw sockets',
    count: `${requests} requests`,
    result: `${problems.length} problems; ${accepted.size} were still fine and stored, ${silent} were disconnected without an answer`,
  });
  expect(problems.slice(0, 5)).toEqual([]);
  const fresh = new Set([...(await storedIds(desk))].filter((id) => !known.has(id)));
  expect(accepted.size).toBeGreaterThan(requests / 100);
  expect([...accepted].filter((id) => !fresh.has(id))).toEqual([]);
  expect(fresh.size).toBe(accepted.size);
});

/** Sends, says that no more comes, and reads to the end. */
async function converse(bytes: Buffer): Promise<RawAnswer[]> {
  const connection = await RawConnection.open(desk.server.url);
  try {
    await connection.write(bytes);
    connection.finish();
    return await connection.all();
  } finally {
    connection.close();
  }
}

function mutate(bytes: Buffer, [kind, at, byte, length]: [string, number, number, number]): Buffer {
  const i = bytes.length === 0 ? 0 : at % bytes.length;
  const [before, piece, after] = [
    bytes.subarray(0, i),
    bytes.subarray(i, i + length),
    bytes.subarray(i + length),
  ];
  switch (kind) {
    case 'flip':
      return Buffer.concat([before, Buffer.of((bytes[i] ?? 0) ^ (1 << (byte % 8))), bytes.subarray(i + 1)]);
    case 'set':
      return Buffer.concat([before, Buffer.of(0x20 + (byte % 0x5f)), bytes.subarray(i + 1)]);
    case 'insert':
      return Buffer.concat([before, Buffer.alloc(length, byte), bytes.subarray(i)]);
    case 'delete':
      return Buffer.concat([before, after]);
    case 'repeat':
      return Buffer.concat([before, piece, piece, after]);
    case 'cut':
      return Buffer.from(before);
    default:
      return Buffer.concat([before, Buffer.from('\r\n'), bytes.subarray(i)]);
  }
}
