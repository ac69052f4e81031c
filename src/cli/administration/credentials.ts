/** `belfry token` and `belfry key`: the credentials of senders, panels, scrapers and scripts. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Key, type Role, roles, type Scope, scopes, type Token } from '#contract/people/token.ts';
import { rulesThatNameToken } from '#contract/routing/rule-names.ts';
import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { jsonOption, nameOption, readList, readTimeSpan, readWords, tenantOption } from '../options.ts';
import { briefTime, table, visibleText } from '../terminal-text.ts';
import { actor, type Directory, getTenant, isInNewDatabase, withDirectory } from './administration.ts';

type Kind = 'token' | 'key';

interface CreateOptions {
  readonly tenant: string;
  readonly name: string;
  /** Of a token. */
  readonly scopes?: Scope[];
  /** Of a token. */
  readonly allowInUrl?: boolean;
  /** Of a token: the name or id of a panel. */
  readonly panel?: string;
  /** Of a key. */
  readonly role?: Role;
  readonly expires?: number;
  readonly allowFrom?: string[];
  readonly json?: boolean;
}

export function addToken(program: Command, io: Io): void {
  const token = program.command('token').description('create, list and revoke API tokens');
  const what = `scopes, separated by commas: ${scopes.join(', ')} (default: all)`;
  addCreate(token, io, 'token', {
    description: 'create a token; it is printed once and cannot be shown again',
    options: [
      new Option('--scopes <scopes>', what).argParser((text) => readWords(text, scopes)),
      new Option(
        '--allow-in-url',
        'it may be in a URL (?token=…), which proxies and devices log; only with --scopes notify',
      ),
      new Option(
        '--panel <name>',
        'for this panel alone (its name or id), as for a phone; it then has the scope panel',
      ),
    ],
    example: `TOKEN=$(${io.program} token create --name ci --scopes notify --expires 90d)`,
  });
  addList(token, io, 'token');
  addRevoke(token, io, 'token');
}

export function addKey(program: Command, io: Io): void {
  const key = program.command('key').description('create, list and revoke automation keys');
  addCreate(key, io, 'key', {
    description: 'create an automation key; it is printed once and cannot be shown again',
    options: [new Option('-r, --role <role>', 'what it may do').choices(roles).makeOptionMandatory()],
    example: `KEY=$(${io.program} key create --role admin --name deploy)`,
  });
  addList(key, io, 'key');
  addRevoke(key, io, 'key');
}

interface CreateHelp {
  readonly description: string;
  /** The rights of the credential. */
  readonly options: readonly Option[];
  readonly example: string;
}

function addCreate(parent: Command, io: Io, kind: Kind, { description, options, example }: CreateHelp): void {
  const command = parent
    .command('create')
    .description(description)
    .addOption(tenantOption())
    .addOption(nameOption());
  for (const option of options) command.addOption(option);
  command
    .addOption(
      new Option('--expires <duration>', 'expires after this time: 12h, 90d, 52w (default: never)').argParser(
        readExpiry,
      ),
    )
    .addOption(
      new Option(
        '--allow-from <addresses>',
        'addresses or CIDR blocks it may be used from, separated by commas (default: any)',
      ).argParser(readList),
    )
    .addOption(jsonOption(`{"id","${kind}"}`))
    .addHelpText('after', `\nExample:\n  ${example}`)
    .action((options: CreateOptions) => create(io, kind, options));
}

async function create(io: Io, kind: Kind, options: CreateOptions): Promise<void> {
  const { newKey, newToken } = await import('../../server/app.ts');
  const now = Date.now();
  const { name, allowFrom, allowInUrl = false, expires, panel, role = 'viewer' } = options;
  const chosen = options.scopes ?? (panel === undefined ? undefined : (['panel'] as const));
  const limits = {
    name,
    ...(allowFrom && { allowFrom }),
    ...(expires !== undefined && { expiresAt: new Date(now + expires).toISOString() }),
  };
  // Checked before the database is opened, so that a wrong option leaves no new file behind.
  const { record, text } =
    kind === 'token'
      ? newToken(
          0,
          {
            ...{ ...limits, allowInUrl },
            ...(chosen && { scopes: [...chosen] }),
            ...(panel !== undefined && { panelId: panel }),
          },
          actor,
          now,
        )
      : newKey(0, { ...limits, role }, actor, now);
  const makes = panel === undefined && isInNewDatabase(options.tenant);
  await withDirectory(io, { makes }, async (directory) => {
    const { id } = await getTenant(io, directory, options.tenant);
    const panelId = panel === undefined ? null : (await getPanel(directory, id, panel)).id;
    await directory.credentials.add({ ...record, tenant: id, panelId });
  });
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ id: record.id, [kind]: text })}\n`);
    return;
  }
  io.stdout.write(`${text}\n`);
  const ends = record.expiresAt === null ? '' : `, until ${new Date(record.expiresAt).toISOString()}`;
  const title =
    kind === 'token'
      ? `Token ${record.id} for ${record.scopes.join(', ')}`
      : `Key ${record.id} with the role ${role}`;
  io.stderr.write(
    `${title}${ends}. It is not shown again; ${io.program} ${kind} revoke ${record.id} ends it.\n`,
  );
}

/** How many panels an error names. */
const maxNamed = 10;

/** The panel with this name or id. @throws Failure that names panels when there is none. */
async function getPanel({ panels }: Directory, tenant: number, wanted: string) {
  const all = await panels.list(tenant);
  const found = all.find(({ name }) => name === wanted) ?? all.find(({ id }) => id === wanted);
  if (found) return found;
  const text = wanted.trim().toLowerCase();
  const similar = all.filter(({ name }) => text !== '' && name.toLowerCase().includes(text));
  const named = (similar.length > 0 ? similar : all).map(({ name }) => visibleText(name));
  const more = named.length > maxNamed ? [`${named.length - maxNamed} more`] : [];
  throw new Failure(
    all.length === 0
      ? 'this tenant has no panel yet: add one in the dashboard first'
      : `there is no panel "${visibleText(wanted)}"; ${similar.length > 0 ? 'did you mean' : 'the panels are'} ${[...named.slice(0, maxNamed), ...more].join(', ')}`,
  );
}

function addList(parent: Command, io: Io, kind: Kind): void {
  parent
    .command('list')
    .description(`show the ${kind}s of a tenant, revoked ones included`)
    .addOption(tenantOption())
    .addOption(jsonOption('an array, one object each'))
    .addHelpText('after', `\nExample:\n  ${io.program} ${kind} list --json`)
    .action(async ({ tenant, json }: { tenant: string; json?: boolean }) => {
      const found = await withDirectory(io, { makes: false }, async (directory) => {
        const { keyView, tokenView } = await import('#server/app.ts');
        const { id } = await getTenant(io, directory, tenant);
        const records = await directory.credentials.list(id, kind);
        return records.map<Token | Key>(kind === 'token' ? tokenView : keyView);
      });
      io.stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : listed(found, kind, Date.now()));
      if (found.length === 0 && !json)
        io.stderr.write(`no ${kind}s yet: ${io.program} ${kind} create --help\n`);
    });
}

function addRevoke(parent: Command, io: Io, kind: Kind): void {
  parent
    .command('revoke')
    .description(`revoke a ${kind} for good; a running server refuses it within a second`)
    .argument('<id>', `the ${kind}'s id, as list shows it (the ${kind} itself)`)
    .addHelpText('after', `\nExample:\n  ${io.program} ${kind} revoke 4fT0aQz81k`)
    .action(async (text: string) => {
      const id = /^bf[yk]_([^_]+)_/.exec(text)?.[1] ?? text;
      const { name, was, users } = await withDirectory(
        io,
        { makes: false },
        async ({ credentials, rules }) => {
          const record = await credentials.find(id);
          if (record?.kind !== kind)
            throw new Failure(`there is no ${kind} with the id ${id}: ${io.program} ${kind} list shows all`);
          await credentials.revoke(record.tenant, kind, id, actor, Date.now());
          const named =
            kind === 'token' ? rulesThatNameToken(record, (await rules.set(record.tenant)).rules) : [];
          return { name: record.name, was: record.revokedAt, users: named.map((rule) => rule.name) };
        },
      );
      const before = was === null ? '' : ` already on ${briefTime(new Date(was).toISOString())}`;
      io.stdout.write(`revoked${before}: ${id} (${visibleText(name)})\n`);
      if (users.length > 0) io.stderr.write(`rules that name it: ${visibleText(users.join(', '))}\n`);
    });
}

function listed(found: readonly (Token | Key)[], kind: Kind, now: number): string {
  if (found.length === 0) return '';
  const headings = [
    'ID',
    'NAME',
    kind === 'token' ? 'SCOPES' : 'ROLE',
    'STATE',
    'CREATED',
    'LAST USED',
    'FROM',
  ];
  const rows = found.map((one) => [
    one.id,
    one.name,
    'role' in one ? one.role : one.scopes.join(','),
    stateOf(one, now),
    briefTime(one.createdAt),
    briefTime(one.lastUsedAt),
    one.lastUsedFrom ?? '-',
  ]);
  return table(headings, rows);
}

function stateOf({ revokedAt, expiresAt }: Token | Key, now: number): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return Date.parse(expiresAt) <= now ? 'expired' : `until ${briefTime(expiresAt)}`;
}

function readExpiry(text: string): number {
  const ms = readTimeSpan(text);
  if (ms > 100 * 366 * 86_400_000)
    throw new InvalidArgumentError('A hundred years is the longest; leave it out for no end.');
  return ms;
}
