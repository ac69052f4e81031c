import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Scope, scopes } from '#contract/token.ts';
import { actor, getTenant, withDirectory } from './administration.ts';
import { addList, addRevoke } from './credential-commands.ts';
import {
  allowFromOption,
  endOf,
  expiresOption,
  jsonOption,
  nameOption,
  readList,
  readName,
  tenantOption,
} from './credential-options.ts';
import type { Io } from './io.ts';

interface CreateOptions {
  readonly tenant: string;
  readonly name: string;
  readonly scopes?: Scope[];
  readonly expires?: number;
  readonly allowFrom?: string[];
  readonly json?: boolean;
}

/** `belfry token`: what senders, panels and scrapers come with. */
export function addToken(program: Command, io: Io): void {
  const token = program.command('token').description('make, list and revoke API tokens');
  token
    .command('create')
    .description('make a token; it is printed once and kept nowhere')
    .addOption(tenantOption())
    .addOption(nameOption().argParser(readName))
    .addOption(
      new Option(
        '--scopes <scopes>',
        `what it may be used for, between commas: ${scopes.join(', ')} (default: all)`,
      ).argParser(readScopes),
    )
    .addOption(expiresOption())
    .addOption(allowFromOption())
    .addOption(jsonOption('{"id","token"}'))
    .addHelpText(
      'after',
      `\nExample:\n  TOKEN=$(${io.program} token create --name ci --scopes notify --expires 90d)`,
    )
    .action((options: CreateOptions) => create(io, options));
  addList(token, io, 'token');
  addRevoke(token, io, 'token');
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { newToken } = await import('#app.ts');
  const now = Date.now();
  // Made before the database is opened: a mistake in it leaves no new file behind.
  const { record, text } = newToken(
    0,
    {
      name: options.name,
      ...(options.scopes && { scopes: options.scopes }),
      ...(options.allowFrom && { allowFrom: options.allowFrom }),
      ...(options.expires !== undefined && { expiresAt: endOf(options.expires, now) }),
    },
    actor,
    now,
  );
  await withDirectory(io, async (directory) => {
    const { id } = await getTenant(io, directory, options.tenant);
    await directory.credentials.add({ ...record, tenant: id });
  });
  if (options.json) {
    io.stdout.write(`${JSON.stringify({ id: record.id, token: text })}\n`);
    return;
  }
  io.stdout.write(`${text}\n`);
  const ends = record.expiresAt === null ? '' : `, until ${new Date(record.expiresAt).toISOString()}`;
  io.stderr.write(
    `Token ${record.id} for ${record.scopes.join(', ')}${ends}. It is not shown again; ${io.program} token revoke ${record.id} ends it.\n`,
  );
}

function readScopes(text: string): Scope[] {
  const words = readList(text);
  const unknown = words.find((word) => !(scopes as readonly string[]).includes(word));
  if (unknown !== undefined) throw new InvalidArgumentError(`"${unknown}" is none of ${scopes.join(', ')}.`);
  return words as Scope[];
}
