import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acceptedIds, seedOf, spread, storedIds, wrongWith } from '../support/fuzz.ts';
import { IntakeDesk } from '../support/intake.ts';
import { type RawAnswer, RawConnection, type RawRequest, rawRequest } from '../support/raw-http.ts';

const requests = 1_000;

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
});
afterAll(() => desk.close());

const odd = fc.constantFrom<unknown>(
  '',
  ' ',
  'info',
  'critical',
  'INFO',
  'x'.repeat(300),
  'é',
  '🔔',
  '\u0000',
  '\ud800',
  'a\nb',
  '10.0.0.1',
  '::1',
  '::ffff:1.2.3.4',
  '1.2.3',
  'http://a/',
  'javascript:x',
  0,
  1,
  -1,
  5000,
  1.5,
  604_800_001,
  1e300,
  true,
  false,
  null,
  [],
  {},
  [[]],
  { a: { b: [] } },
  '5000',
  'null',
  '%00',
  '=?utf-8?Q?=FF?=',
  '../..',
  '__proto__',
);
const value = fc.oneof(
  { weight: 3, arbitrary: odd },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);
/** What each field may hold, now and then anything else instead. */
const mostly = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: value });
const text = mostly(fc.constantFrom('T', 'Backup failed', '日本語', 'a'.repeat(200)));
const bodyFields = fc.record(
  {
    title: text,
    message: text,
    level: mostly(fc.constantFrom('info', 'Critical', ' error ', 'deploy')),
    ttl: mostly(fc.nat({ max: 604_800_000 })),
    ip: mostly(fc.oneof(fc.ipV4(), fc.ipV6())),
    host: mostly(fc.domain()),
    key: mostly(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((key) => `k${key}`)),
    url: mostly(fc.webUrl()),
    constructor: value,
    other: value,
  },
  { requiredKeys: ['title', 'message'], noNullPrototype: true },
);
const loose = fc.oneof(
  { weight: 8, arbitrary: bodyFields.map((fields) => JSON.stringify(fields)) },
  {
    weight: 1,
    arbitrary: bodyFields.map((fields) =>
      Object.entries(fields)
        .map(([name, each]) => `${name}=${encodeURIComponent(JSON.stringify(each)?.toWellFormed() ?? '')}`)
        .join('&'),
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      '[]',
      '{}',
      '"x"',
      '\ufeff{}',
      '{"title":"T","title":1}',
      '{"__proto__":{"title":"T"}}',
      'x'.repeat(70_000),
    ),
  },
);
/** What would end a header's line is left to the fuzzer of bytes. */
const noBreaks = (text: string) => [...text].filter((char) => !'\r\n\0'.includes(char)).join('');
const headerValue = fc.oneof(
  odd.map((each) => noBreaks(typeof each === 'string' ? each : JSON.stringify(each))),
  fc.string({ unit: 'binary', maxLength: 60 }).map(noBreaks),
);
const headerName = fc.constantFrom(
  'X-Title',
  'X-Message',
  'X-Level',
  'X-TTL',
  'X-IP',
  'X-Host',
  'X-Key',
  'X-URL',
  'Idempotency-Key',
  'Content-Encoding',
  'Accept',
  'X-Forwarded-For',
  'Forwarded',
  'Last-Event-ID',
  'Expect',
);
const json = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'a/b+json',
  'text/plain',
  '',
);
const contentType = fc.oneof(
  { weight: 3, arbitrary: json },
  {
    weight: 1,
    arbitrary: fc.constantFrom('application/x-www-form-urlencoded', 'application/xml', ';', 'x', '"/"'),
  },
);
const sender = fc.constantFrom('token', 'token', 'token', 'token', 'key', 'none', 'nonsense', 'typo');
const way = fc.oneof(
  { weight: 6, arbitrary: fc.constant(['POST', '/api/notify'] as const) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
      fc.nat(1_000),
      fc.webQueryParameters(),
    ),
  },
);

it(`${requests} odd requests of the right form: no 5xx, no hang, errors of one field, nothing stored that was refused`, async () => {
  const templates = desk.server.running.routes
    .map(({ url }) => url)
    .filter((url) => !/stream|events|export|\*|^\/ntfy\/:topic\/(?:json|sse|raw|ws)$/.test(url));
  const authorizations = {
    token: `Bearer ${desk.token}`,
    key: `Bearer ${desk.key}`,
    none: undefined,
    nonsense: 'Bearer nonsense',
    typo: `Bearer ${desk.token.slice(0, -1)}!`,
  };
  const request = fc.record({
    way,
    sender,
    type: contentType,
    headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 3, size: 'xsmall' }),
    body: loose,
  });
  const cases = fc.sample(request, { numRuns: requests, seed: seedOf('test/e2e/hostile-requests.test.ts') });
  const accepted = new Set<string>(await storedIds(desk));
  const problems: string[] = [];
  const lanes: RawConnection[] = [];
  await spread(cases, 16, async ({ way: [method, to, query], sender: from, type, headers, body }, lane) => {
    const path =
      typeof to === 'string' ? to : `${templates[to % templates.length]?.replace(/:[a-z]+/g, 'x')}?${query}`;
    const authorization = authorizations[from as keyof typeof authorizations];
    const sent: RawRequest = {
      method,
      path,
      body: method === 'GET' ? '' : body,
      headers: [
        ...(authorization ? [['Authorization', authorization] as const] : []),
        ...(type ? [['Content-Type', type] as const] : []),
        ...headers,
      ],
    };
    let connection = lanes[lane];
    if (!connection || connection.isClosed)
      lanes[lane] = connection = await RawConnection.open(desk.server.url);
    const answer = await answerTo(connection, rawRequest(sent)).catch((error: Error) => error);
    const problem = answer instanceof Error ? answer.message : answer ? wrongWith(answer) : 'no answer';
    if (problem)
      problems.push(`${problem} to ${JSON.stringify({ ...sent, body: String(body).slice(0, 200) })}`);
    if (answer && !(answer instanceof Error)) for (const id of acceptedIds(answer)) accepted.add(id);
  });
  for (const connection of lanes) connection.close();
  expect(problems.slice(0, 5)).toEqual([]);
  expect(accepted.size).toBeGreaterThan(requests / 20);
  expect(await storedIds(desk)).toEqual(accepted);
});

/** The final answer to one request; the connection is over when the server says so. */
async function answerTo(connection: RawConnection, bytes: Buffer): Promise<RawAnswer | undefined> {
  const before = connection.answers.length;
  await connection.write(bytes);
  const final = async (count: number): Promise<RawAnswer | undefined> => {
    const answer = (await connection.next(before + count))[before + count - 1];
    return answer && answer.status < 200 ? final(count + 1) : answer;
  };
  const answer = await final(1);
  if (answer?.headers.connection === 'close') await connection.closed;
  return answer;
}
