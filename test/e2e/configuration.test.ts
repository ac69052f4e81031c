/** Configuration as code: `belfry export`, `diff` and `apply` against a server, and on the database itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { Cli, type CliOptions } from '../support/cli.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let cli: Cli;
beforeAll(async () => {
  server = await TestServer.start();
  cli = new Cli();
});
afterAll(async () => {
  await server.stop();
  await cli.remove();
});

interface Channel {
  readonly name: string;
  readonly enabled: boolean;
  readonly secrets: readonly string[];
}

let files = 0;
/** Writes a file; returns its path. */
function file(text: string): string {
  files += 1;
  const path = join(cli.folder, `belfry-${files}.yaml`);
  writeFileSync(path, text);
  return path;
}

/** A tenant of its own, with commands that work on it, and with the token that rules of `whole` name. */
async function tenant(name: string) {
  const key = await server.key('admin', name);
  const token = await server.token({ tenant: name, name: 'ci' });
  const env = { BELFRY_URL: server.url, BELFRY_TOKEN: key };
  return {
    key,
    token,
    run: (args: readonly string[], options: CliOptions = {}) =>
      cli.run(args, { ...options, env: { ...env, ...options.env } }),
    get: async (path: string) => (await server.call('GET', path, { token: key })).json,
    post: async (path: string, json: unknown) => (await server.call('POST', path, { token: key, json })).json,
  };
}

const whole = `
version: 1
levels:
  - name: incident
    rank: 45
    color: "#ff8800"
    icon: flame
    sound: none
    durationMs: 0
  - name: info
    durationMs: 20000
panels:
  - name: wall 1
    tags: [noc, second]
    location: Hall
    display: { minLevel: incident, scale: 1.5, sound: false, timeZone: Europe/Berlin, quietFrom: "22:00", quietUntil: "06:00" }
  - name: wall 2
rules:
  - name: night mute
    when:
      level: [info, success]
      ip: [10.0.0.0/8, 10.0.0.1-10.0.0.9, fd00::/8]
      title: { contains: [a, "#b"] }
      message: { regex: "^disk .* full$" }
      token: [ci]
      labels: { env: [prod, "stag*"], site: ["*"] }
      not: { host: [db-*], key: ["x*"], labels: { team: [""] } }
    then: { mute: true }
    windows: [{ days: [mon, tue], from: 22:00, until: 06:00 }]
    timeZone: Europe/Berlin
    activeFrom: 2026-11-01T18:00:00Z
    note: |
      Two lines,
      and an ä.
  - name: db to the walls
    when: { host: [db-*], minLevel: incident }
    then:
      panels: { names: [wall 2, wall 1] }
      setLevel: incident
      throttle: { by: [host, title, "label:cluster"], perMs: 60000 }
      group: [title, "label:cluster"]
      suppress:
        when: { level: [incident], title: { glob: "*down*" }, not: { labels: { team: [""] } } }
        equal: [host, "label:site"]
    continue: true
    enabled: false
  - name: rest to the NOC
    then:
      panels: { tags: [noc] }
      setTtl: 5000
      instructions: |
        Look at the gate.
        Then call the plant.
searches:
  - name: databases
    q: 'host:db-* level:>=warning'
`;

describe('a file', () => {
  test('with a rule that names a level or token that does not exist is refused before anything is changed', async () => {
    const { key, run, get, post } = await tenant('unknown-names');
    const levels = 'levels: [{ name: deploy, rank: 25 }]';
    const rule = (name: string, when: string) => `{ name: ${name}, when: ${when}, then: { mute: true } }`;
    const of = (...rules: string[]) =>
      file(`version: 1\n${levels}\nrules:\n${rules.map((each) => `  - ${each}\n`).join('')}`);
    const wrong = of(
      rule('x', '{ level: [deploy, deplo] }'),
      rule('y', '{ not: { token: [deploy-bot] } }'),
      '{ name: z, then: { suppress: { when: { not: { level: [deplo] } }, equal: [] } } }',
    );
    for (const command of ['diff', 'apply']) {
      const { code, stderr } = await run([command, wrong]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /:4:40: rules\[0\]\.when\.level\[1\]: rule "x": no level is named "deplo"; did you mean "deploy"\?.*\n.*:5:39: rules\[1\]\.when\.not\.token\[0\]: rule "y": no token is named "deploy-bot".*create it first.*\n.*:6:59: rules\[2\]\.then\.suppress\.when\.not\.level\[0\]: rule "z": no level is named "deplo"/,
        ),
      ]);
    }
    expect((await get('/api/levels')).levels).toHaveLength(5);
    const { id } = await post('/api/tokens', { name: 'deploy-bot' });
    const right = of(rule('x', '{ level: [deploy] }'), rule('y', '{ not: { token: [deploy-bot] } }'));
    expect(await run(['apply', right])).toMatchObject({ code: 0, stderr: '' });
    // A token may end after the rule was saved: then it is a warning.
    await server.call('DELETE', `/api/tokens/${id}`, { token: key });
    expect(await run(['diff', right])).toMatchObject({
      code: 0,
      stderr:
        'belfry: rule "y": when.not.token[0]: the token "deploy-bot" is revoked, so it matches nothing\n',
    });
  });

  test('is applied, is then what the server has, and comes back as it was by way of another tenant', async () => {
    const [one, other] = [await tenant('whole'), await tenant('whole-copy')];
    const path = file(whole);
    const before = await one.run(['diff', path]);
    expect(before.code).toBe(1);
    expect(before.stdout).toContain('+ level "incident"\n~ level "info"\n    durationMs: 30000 -> 20000\n');
    expect(before.stdout).toContain('Effect on the last day: none, there were no notifications.');
    expect((await one.get('/api/rules')).rules).toEqual([]);
    expect(await one.run(['apply', path, '--dry-run'])).toMatchObject({ code: 0, stdout: before.stdout });
    expect((await one.get('/api/rules')).rules).toEqual([]);

    expect(await one.run(['apply', path])).toMatchObject({
      code: 0,
      stdout: `${before.stdout}Applied: 7 created, 1 changed, 0 deleted.\n`,
    });
    for (const command of ['diff', 'apply'])
      expect(await one.run([command, path])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    const rules = (await one.get('/api/rules')).rules;
    expect(rules.map(({ name }: { name: string }) => name)).toEqual([
      'night mute',
      'db to the walls',
      'rest to the NOC',
    ]);
    const panels = (await one.get('/api/panels')).panels;
    expect(rules[1].then.panels.ids).toEqual([panels[1].id, panels[0].id]);
    expect(panels[0].display).toMatchObject({ minLevel: 'incident', quietFrom: '22:00' });

    const exported = (await one.run(['export'])).stdout;
    const matches = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await cli.ok(['export', '--schema'])),
    );
    expect([matches(parse(exported)), matches(parse(whole)), matches({ version: 1, rule: [] })]).toEqual([
      true,
      true,
      false,
    ]);
    expect(parse(exported).rules).toEqual(parse(whole).rules);
    expect(exported).toMatch(/^# yaml-language-server: \$schema=\.\/belfry\.schema\.json\n/);
    // A rule begins with its name, as a person writes it.
    expect(exported).toMatch(/^rules:\n {2}- name: /m);
    const copy = file(exported);
    expect(await one.run(['diff', copy, '--prune'])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    expect((await other.run(['apply', copy])).code).toBe(0);
    expect((await other.run(['export'])).stdout).toBe(exported);
    expect(await other.run(['apply', '-'], { input: exported })).toMatchObject({ stdout: 'No changes.\n' });
  });

  test('has on-call schedules, with panels and channels by their names', async () => {
    const [one, other] = [await tenant('on-call'), await tenant('on-call-copy')];
    const shift =
      '{ days: [mon, tue, wed, thu, fri, sat, sun], from: "00:00", until: "24:00", people: [Ana] }';
    const text = `version: 1
channels: [{ name: off, kind: ntfy, enabled: false, settings: { topic: t } }]
panels: [{ name: wall }, { name: phone }]
onCall:
  - name: Ops
    timeZone: Europe/Berlin
    people: [{ name: Ana, channels: [off], panels: { names: [phone] } }, { name: Ben, panels: { tags: [ben] } }]
    rota: { firstWeek: "2026-11-30", shifts: [${shift}] }
  - { name: cal, timeZone: UTC, people: [{ name: Ana }], calendar: { url: "https://calendar.invalid/a.ics" }, alertBeforeMs: 0 }
rules: [{ name: to Ops, then: { onCall: Ops, panels: none } }]
`;
    const path = file(text);
    await server.notify(one.token, { title: 'Disk full', message: 'm' });
    const first = await one.run(['diff', path]);
    expect(first.stdout).toContain('+ on-call schedule "Ops"');
    expect(first.stdout).toContain('rule "to Ops" would have matched 1');
    expect(await one.run(['apply', path])).toMatchObject({ code: 0, stderr: '' });
    expect(await one.run(['diff', path])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    const exported = (await one.run(['export'])).stdout;
    expect(parse(exported)).toMatchObject({
      onCall: parse(text).onCall,
      rules: parse(text).rules,
    });
    expect(await other.run(['apply', file(exported)])).toMatchObject({ code: 0, stderr: '' });
    expect((await other.run(['export'])).stdout).toBe(exported);

    const without = file(text.replace(/ {2}- name: Ops[\s\S]*? {2}- \{ name: cal/, '  - { name: cal'));
    const refused = await one.run(['apply', without, '--prune', '--yes']);
    expect(refused.stderr).toContain('--prune would delete the on-call schedule "Ops"');
    const changed = file(text.replace('names: [phone]', 'names: [wall]'));
    expect((await one.run(['apply', changed])).stdout).toContain('~ on-call schedule "Ops"');
    const unknown = await one.run(['apply', file(text.replace('names: [phone]', 'names: [hall]'))]);
    expect(unknown.stderr).toContain('there is no panel "hall"');
  });

  test('has channels and mappings, whose secrets come from the environment and are never shown', async () => {
    const [one, other] = [await tenant('channels'), await tenant('channels-copy')];
    const env = { HOOK_KEY: `whsec_${Buffer.alloc(32, 7).toString('base64')}`, CHAT_TOKEN: 'bot-7-secret' };
    const text = `version: 1
levels: [{ name: error, repeatMs: 0 }, { name: incident, rank: 45 }]
mappings:
  - { name: ups, items: /a, fields: { title: "{/t}", level: "{/s}" }, labels: { env: "{/e}" }, levels: { bad: incident } }
channels:
  - { name: chat, kind: telegram, settings: { chat: "-1" }, secrets: { token: "\${CHAT_TOKEN}" } }
  - name: Ops
    kind: webhook
    settings: { url: https://receiver.example.org/hook }
    secrets: { signingKey: "\${HOOK_KEY}" }
  - { name: off, kind: ntfy, enabled: false, settings: { topic: t } }
panels: [{ name: wall }]
rules:
  - name: x
    then:
      channels: [Ops, chat]
      escalate: [{ afterMs: 60000, setLevel: incident, panels: { names: [wall] } }]
`;
    const path = file(text);
    await server.notify(one.token, { title: 'Disk full', message: 'm' });
    const first = await one.run(['diff', path], { env });
    expect(first.stdout).toContain('channel "Ops" would have been sent 1 (it was sent 0)\n');
    expect(await one.run(['apply', path], { env })).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['diff', 'apply'])
      expect(await one.run([command, path], { env })).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    const { channels } = await one.get('/api/channels');
    expect(channels.map(({ name, enabled, secrets }: Channel) => [name, enabled, secrets])).toEqual([
      ['Ops', true, ['signingKey']],
      ['chat', true, ['token']],
      ['off', false, []],
    ]);

    const exported = (await one.run(['export'])).stdout;
    for (const secret of Object.values(env)) expect(exported).not.toContain(secret);
    expect(parse(exported)).toMatchObject({
      mappings: parse(text).mappings,
      channels: [
        { name: 'Ops', secrets: { signingKey: `\${CHANNEL_OPS_SIGNING_KEY}` } },
        { name: 'chat', secrets: { token: `\${CHANNEL_CHAT_TOKEN}` } },
        { name: 'off', enabled: false, settings: { topic: 't' } },
      ],
      rules: parse(text).rules,
    });
    const copy = file(exported);
    const missing = await other.run(['apply', copy]);
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining(
        'channels[0].secrets.signingKey: the environment variable CHANNEL_OPS_SIGNING_KEY is',
      ),
    ]);
    expect((await other.get('/api/levels')).levels.length).toBe(5);
    const own = { CHANNEL_OPS_SIGNING_KEY: env.HOOK_KEY, CHANNEL_CHAT_TOKEN: env.CHAT_TOKEN };
    expect(await other.run(['apply', copy], { env: own })).toMatchObject({ code: 0, stderr: '' });
    expect((await other.run(['export'])).stdout).toBe(exported);
    expect(await other.run(['apply', copy], { env: own })).toMatchObject({ stdout: 'No changes.\n' });

    // Without the variable a secret stays; with another value it is changed, and never shown.
    const kept = await other.run(['diff', copy], { env: { CHANNEL_CHAT_TOKEN: 'another-7-secret' } });
    expect(kept).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('keeps its signingKey: the environ'),
    });
    expect(kept.stdout).toContain(
      `~ channel "chat"\n    secrets.token: (another value) -> "\${CHANNEL_CHAT_TOKEN}"\n`,
    );
    const without = exported
      .replace(/ {2}- name: chat[\s\S]*?\n\n/, '')
      .replace(/ {2}- name: incident[\s\S]*?\n\n/, '');
    expect((await other.run(['diff', file(without), '--prune'])).stderr).toMatch(
      /rules\[0\]: rule "x" names the level "incident", which --prune would delete: add the level to the file/,
    );
    const pruned = exported.replace(/ {2}- name: chat[\s\S]*?\n\n/, '');
    const refused = await other.run(['apply', file(pruned), '--prune', '--yes']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'rules[0].then.channels[1]: --prune would delete the channel "chat": add it to',
      ),
    ]);
    expect((await other.get('/api/channels')).channels.length).toBe(3);
    const withoutRules = pruned.replace(/\nrules:[\s\S]*/, '\n');
    expect((await other.run(['apply', file(withoutRules), '--prune', '--yes'])).stderr).toContain(
      'belfry: rule "x" names channel "chat", which is deleted\n',
    );
    expect((await other.run(['export'])).stderr).toContain('rule "x" names a channel that is deleted');
  });

  test('has a channel to Alertmanager, with its labels and its login', async () => {
    const [one, other] = [await tenant('alertmanager'), await tenant('alertmanager-copy')];
    const text = `version: 1
channels:
  - name: am
    kind: alertmanager
    settings: { url: http://am.example.org:9093, user: belfry, labels: "team=ops, site=plant 2", silences: off }
    secrets: { password: "\${CHANNEL_AM_PASSWORD}" }
`;
    const env = { CHANNEL_AM_PASSWORD: 'a-7-secret' };
    expect(await one.run(['apply', file(text)], { env })).toMatchObject({ code: 0, stderr: '' });
    expect(await one.run(['diff', file(text)], { env })).toMatchObject({ code: 0, stdout: 'No changes.\n' });
    const exported = (await one.run(['export'])).stdout;
    expect(parse(exported)).toMatchObject({ channels: parse(text).channels });
    expect(await other.run(['apply', file(exported)], { env })).toMatchObject({ code: 0, stderr: '' });
    expect((await other.run(['export'])).stdout).toBe(exported);
    const refused = await one.run(['apply', file(text.replace('team=ops', 'alarm=x'))], { env });
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('channels[0].settings.labels: must be at most 20 labels, as in team=ops'),
    ]);
  });

  test('keeps what it does not name; --prune deletes that, asks before, and needs --yes without a terminal', async () => {
    const { run, get } = await tenant('pruned');
    await run(['apply', file(whole)]);
    const path = file(`version: 1
levels: [{ name: error, rank: 41 }]
panels: [{ name: wall 2, tags: [a] }]
rules:
  - { name: rest to the NOC, then: { panels: { tags: [a] } } }
  - { name: new, then: { setTtl: 1 } }
  - { name: night mute, then: { mute: true } }
`);
    const kept = await run(['apply', path]);
    expect(kept).toMatchObject({ code: 0 });
    expect(kept.stderr).toContain('left alone: level "incident", panel "wall 1", rule "db to the walls"; ');
    const names = async () => (await get('/api/rules')).rules.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['rest to the NOC', 'new', 'db to the walls', 'night mute']);
    expect(await run(['diff', path])).toMatchObject({ code: 0 });
    expect(await run(['diff', path, '--prune'])).toMatchObject({ code: 1 });
    expect(await run(['apply', path, '--prune'])).toMatchObject({
      code: 2,
      stderr: 'belfry: --prune deletes: without a terminal to ask at, it needs --yes\n',
    });
    expect((await names()).length).toBe(4);
    const pruned = await run(['apply', path, '--prune', '--yes']);
    expect(pruned).toMatchObject({ code: 0, stderr: '' });
    expect(pruned.stdout).toContain('- panel "wall 1"\n');
    expect(pruned.stdout).toContain('Applied: 0 created, 0 changed, 3 deleted.');
    expect(await names()).toEqual(['rest to the NOC', 'new', 'night mute']);
    expect((await get('/api/levels')).levels.length).toBe(5);
    // The section of searches is not in the file.
    expect((await get('/api/searches')).searches.length).toBe(1);
    expect(await run(['apply', path, '--prune'])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  });

  test('shows its effect on what was sent, with levels and panels that it makes itself', async () => {
    const { run, token } = await tenant('effect');
    await server.call('POST', '/api/panels', { token, json: { name: 'old', tags: ['noc'] } });
    for (const host of ['db-1', 'db-2', 'web-1'])
      await server.notify(token, { title: 'Disk full', message: 'm', level: 'warning', host });
    const { stdout } = await run([
      'diff',
      file(`version: 1
levels: [{ name: disaster, rank: 99 }]
panels: [{ name: wall 3 }, { name: old, tags: [] }]
rules:
  - { name: db, when: { host: [db-*] }, then: { panels: { names: [wall 3] }, setLevel: disaster } }
`),
    ]);
    expect(stdout).toContain(`Effect on the last day: of 3 notifications, 2 would change: 2 on other panels.
  rule "db" would have matched 2 (it matched 0)
  panel "old" would have been sent 1 (it was sent 3)
`);
  });
});

test('two that apply one file at once make everything once', async () => {
  const { run, get } = await tenant('at-once');
  const path = file(whole);
  const both = await Promise.all([run(['apply', path]), run(['apply', path]), run(['apply', path])]);
  expect(both.some(({ code }) => code === 0)).toBe(true);
  // Who came too late for one of them says so, and finishes when it is called again.
  expect(await run(['apply', path])).toMatchObject({ code: 0 });
  expect(await run(['apply', path])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  expect((await get('/api/rules')).rules.length).toBe(3);
  expect((await get('/api/searches')).searches.length).toBe(1);
});

describe('a mistake is reported with file, line and column, and nothing is changed', () => {
  test.each<[string, string, string | RegExp]>([
    ['text that is no YAML', 'version: 1\nrules: [\n', /:3:1: .*flow/i],
    ['two documents', 'version: 1\n---\nversion: 1\n', /multiple documents/],
    ['a repeated field', 'version: 1\nrules: []\nrules: []\n', /:3:1: .*unique/i],
    ['nothing', '', /:1:1: must be a mapping/],
    ['another version', 'version: 2\n', ':1:10: version: must be 1'],
    ['no version', 'rules: []\n', ':1:1: the field "version" is missing'],
    ['an unknown section', 'version: 1\nrule: []\n', ':2:1: there is no field "rule"; did you mean "rules"?'],
    [
      'an unknown field',
      'version: 1\nrules:\n  - name: x\n    when: { hots: [a] }\n    then: { mute: true }\n',
      ':4:13: rules[0].when: there is no field "hots"; did you mean "host"?',
    ],
    [
      'an unknown form',
      'version: 1\nrules: [{ name: x, when: { title: { contain: a } }, then: { mute: true } }]\n',
      ':2:37: rules[0].when.title: there is no field "contain"; did you mean "contains"?',
    ],
    [
      'wrong types',
      'version: 1\nlevels:\n  - name: x\n    rank: high\n    color: #fff000\n    icon: flme\n  - 7\n',
      /:4:11: levels\[0\]\.rank: must be an integer\nbelfry: .*:5:\d+: levels\[0\]\.color: must be a string; it is empty \(a value that begins with # must be quoted\)\nbelfry: .*:6:11: levels\[0\]\.icon: must be .*\nbelfry: .*:7:5: levels\[1\]: must be a mapping/,
    ],
    [
      'a target that is none',
      'version: 1\nrules: [{ name: x, then: { panels: { ids: [a] } } }]\n',
      ':2:38: rules[0].then.panels: there is no field "ids"; it is one of "tags", "names"',
    ],
    [
      'two of one name',
      'version: 1\npanels:\n  - name: a\n  - name: b\n  - name: a\n',
      /:5:11: panels\[2\]\.name: "a" is the name of another one at .*:3:11/,
    ],
    [
      'quiet hours without their end',
      'version: 1\npanels:\n  - name: a\n  - name: b\n    display: { quietFrom: "22:00" }\n',
      ':5:27: panels[1].display.quietFrom: needs quietUntil',
    ],
    [
      'a panel that is not there',
      'version: 1\nrules:\n  - name: x\n    then:\n      panels: { names: [nowhere] }\n',
      ':5:25: rules[0].then.panels.names[0]: there is no panel "nowhere", neither in this file nor on the server',
    ],
    [
      'an address that is none, as the server finds it',
      'version: 1\nrules:\n  - name: fine\n    then: { mute: true }\n  - name: x\n    when:\n      ip:\n        - 10.0.0.0/8\n        - 10.0.0.0/99\n    then: { mute: true }\n',
      /:9:11: rules\[1\]\.when\.ip\[1\]: .*10\.0\.0\.0\/99/,
    ],
    [
      'a search that cannot be read',
      'version: 1\npanels: [{ name: a }]\nsearches: [{ name: x, q: "hots:a" }]\n',
      ':3:26: searches[0].q: unknown key "hots" at character 1; did you mean "host"?',
    ],
    ['an alias that is not there', 'version: 1\nrules: *a\n', /:2:8: .*alias|[Uu]nresolved alias/],
    [
      'an alias bomb',
      `version: 1\nrules:\n  - &a0 [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, i) => `  - &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]\n`).join('')}`,
      /resource exhaustion/,
    ],
    ['an alias of itself', 'version: 1\nrules: &a\n  - *a\n', /rules\[0\]: must be a mapping|alias/],
    ['depth', `version: 1\nrules: ${'['.repeat(10_000)}`, /nested too deeply|flow/i],
    ['control characters', 'version: 1\n"\\u001b[2J": 1\n', /there is no field "\\x1b\[2J"/],
  ])('%s', async (_, text, expected) => {
    const { run, get } = await tenant('mistakes');
    const path = file(text);
    const { code, stdout, stderr } = await run(['apply', path, '--prune', '--yes']);
    expect(stderr).toMatch(expected instanceof RegExp ? expected : '');
    if (typeof expected === 'string') expect(stderr).toBe(`belfry: ${path}${expected}\n`);
    expect([code, stdout]).toEqual([2, '']);
    expect([(await get('/api/rules')).rules, (await get('/api/panels')).panels]).toEqual([[], []]);
    expect(await run(['diff', path])).toMatchObject({ code: 2, stdout: '' });
  });

  test('a file that is too large, not text, or not there', async () => {
    const { run } = await tenant('mistakes');
    const large = file('#'.repeat(8 * 1024 * 1024 + 1));
    expect((await run(['apply', large])).stderr).toBe(`belfry: ${large} is too large: at most 8 MiB\n`);
    const folder = await run(['apply', cli.folder]);
    expect([folder.code, folder.stderr]).toEqual([2, `belfry: cannot read ${cli.folder} (EISDIR)\n`]);
    expect((await run(['apply', '/none.yaml'])).stderr).toBe('belfry: cannot read /none.yaml (ENOENT)\n');
  });
});

test("another tenant's panels are not there, and its ids mean nothing", async () => {
  const [own, other] = [await tenant('own'), await tenant('foreign')];
  await other.run(['apply', file('version: 1\npanels: [{ name: secret wall }]\n')]);
  const { id } = (await other.get('/api/panels')).panels[0];
  for (const name of ['secret wall', id]) {
    const path = file(`version: 1\nrules: [{ name: x, then: { panels: { names: ["${name}"] } } }]\n`);
    const { code, stderr } = await own.run(['apply', path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`there is no panel "${name}"`)]);
  }
  expect((await own.run(['export'])).stdout).not.toContain('secret');
});

test('a rule that chooses a deleted panel hinders nothing: export leaves the panel out, and what it wrote applies', async () => {
  const { run, get } = await tenant('deleted-panel');
  const made = (names: string) => `version: 1
panels: [{ name: a }, { name: b }]
rules:
  - { name: both, then: { panels: { names: ${names} } } }
  - { name: gone, then: { panels: { names: [b] } } }
`;
  await run(['apply', file(made('[a, b]'))]);
  const before = await run(['apply', file('version: 1\npanels: [{ name: a }]\n'), '--prune', '--yes']);
  expect(before.stderr).toBe(
    'belfry: rule "both" chooses panel "b", which is deleted\nbelfry: rule "gone" chooses panel "b", which is deleted\n',
  );
  const exported = await run(['export']);
  expect(exported.stderr).toBe(
    'belfry: rule "both" chooses a panel that is deleted; it is left out\nbelfry: rule "gone" chooses a panel that is deleted; it is left out\n',
  );
  expect(parse(exported.stdout).rules.map(({ then }: { then: object }) => then)).toEqual([
    { panels: { names: ['a'] } },
    { panels: 'none' },
  ]);
  expect(await run(['diff', file(exported.stdout)])).toMatchObject({ code: 0, stdout: 'No changes.\n' });
  const changed = exported.stdout.replace('panels: none', 'mute: true');
  expect(await run(['apply', file(changed)])).toMatchObject({ code: 0, stderr: '' });
  expect((await get('/api/rules')).rules[1].then).toEqual({ mute: true });
});

test('rules of one name cannot be distinguished: the command says so and changes nothing', async () => {
  const { run, post } = await tenant('repeated');
  for (const host of ['a', 'b'])
    await post('/api/rules', { name: 'same', when: { host: [host] }, then: { mute: true } });
  for (const args of [['export'], ['apply', file('version: 1\n')]])
    expect((await run(args)).stderr).toContain('two rules are named "same": rename one of them first');
});

test('an export without the right to it says what is missing', async () => {
  const run = (BELFRY_TOKEN: string, ...more: string[]) =>
    cli.run(['export', ...more], { env: { BELFRY_URL: server.url, BELFRY_TOKEN } });
  expect((await run(await server.token())).stderr).toContain('BELFRY_TOKEN is no automation key');
  expect((await run(`bfk_${'a'.repeat(10)}_${'b'.repeat(32)}_000000`)).stderr).toContain(
    'does not know this key',
  );
  expect((await run(await server.key('viewer'))).stderr).toContain("this key's role may not do this");
  expect(await run(await server.key(), '--tenant', 'x')).toMatchObject({ code: 2 });
});

test('without a token the commands work on the database itself, of any tenant', async () => {
  const path = file(whole);
  await cli.ok(['tenant', 'create', 'acme']);
  expect((await cli.run(['apply', path, '--tenant', 'acme'])).stderr).toContain('no token is named "ci"');
  await cli.ok(['token', 'create', '--name', 'ci', '--tenant', 'acme']);
  expect((await cli.run(['apply', path, '--tenant', 'acme'])).stderr).toBe('');
  expect(await cli.ok(['diff', path, '--tenant', 'acme'])).toBe('No changes.\n');
  expect(parse(await cli.ok(['export', '-t', 'acme'])).rules).toEqual(parse(whole).rules);
  expect(parse(await cli.ok(['export'])).rules).toEqual([]);
  expect(await cli.ok(['key', 'list', '--tenant', 'acme'])).toBe('');
  expect((await cli.run(['export', '-t', 'none'])).stderr).toContain('there is no tenant "none"');
});
