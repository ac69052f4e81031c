import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cli } from '#test/support/cli.ts';
import { eventually } from '#test/support/eventually.ts';
import { RawConnection, rawRequest } from '#test/support/raw-http.ts';
import { hostileTexts } from '../input/hostile-values.ts';
import { report } from '../report.ts';

let cli: Cli;
beforeEach(() => {
  cli = new Cli();
});
afterEach(() => cli.remove());

/** What a terminal would act on, and what would look like a line of its own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const acts = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
/** As JSON takes them: no NUL, no half of a pair. */
const texts = hostileTexts.filter(
  (text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed(),
);

test('hostile titles, names and paths do nothing to a terminal, and no line of the log is forged', async () => {
  const { url, running } = await cli.serve({
    BELFRY_LOG_FORMAT: 'pretty',
    BELFRY_LOG_LEVEL: 'trace',
    BELFRY_RATE_TOKEN: 'off',
    BELFRY_RATE_AUTH: 'off',
  });
  const token = await cli.token();
  const key = (await cli.ok(['key', 'create', '--name', 'k', '--role', 'admin'])).trim();
  const env = { BELFRY_URL: url, BELFRY_TOKEN: token };
  const tail = cli.start(['tail', '--panel', 'desk'], env);
  await eventually(async () => {
    const answer = await fetch(`${url}/api/panels`, { headers: { authorization: `Bearer ${key}` } });
    const { panels } = (await answer.json()) as { panels: { name: string; online: boolean }[] };
    expect(panels).toContainEqual(expect.objectContaining({ name: 'desk', online: true }));
  });
  const post = (path: string, json: unknown, as = key) =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
  for (const [i, text] of texts.entries()) {
    const sent = await post(
      '/api/notify',
      { title: `${text.slice(0, 200)} n${i}`, message: `${text} m${i}` },
      token,
    );
    expect([text, sent.status]).toEqual([text, 200]);
    await post('/api/tokens', { name: `${text.slice(0, 90)}${i}` });
    await post('/api/panels', { name: text.slice(0, 90) }, token);
    const connection = await RawConnection.open(url);
    const bytes = Buffer.from(text.replaceAll(/[\r\n]/g, '')).toString('latin1');
    await connection.write(
      rawRequest({
        path: `/${encodeURIComponent(text)}`,
        headers: [
          ['Authorization', `Bearer ${bytes}`],
          ['Idempotency-Key', bytes],
          ['User-Agent', bytes],
        ],
      }),
    );
    await connection.next();
    connection.close();
  }
  await tail.says(new RegExp(`n${texts.length - 1}\\b`));
  const printed = {
    'belfry tail': tail.stdout + tail.stderr,
    'belfry token list': await cli.ok(['token', 'list']),
    'belfry panel list': await cli.ok(['panel', 'list']).catch(() => ''),
    'the log': stripVTControlCharacters(running.stderr),
  };
  const found = Object.entries(printed).flatMap(([where, text]) => {
    const at = text.search(acts);
    return at < 0 ? [] : [`${where}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))}`];
  });
  report({
    promise: 'text from senders does nothing to terminals and logs',
    method: 'hostile titles, names, headers and paths; then all that tail, lists and the readable log print',
    count: `${texts.length} texts`,
    result: `${found.length} control or direction characters got through`,
  });
  expect(found).toEqual([]);
  expect(printed['the log']).not.toMatch(/^level=error msg="forged"/m);
  expect(printed['belfry tail'].split('\n').filter((line) => /\bn\d+\b/.test(line)).length).toBeGreaterThan(
    texts.length / 2,
  );
});
