import { type Command, Option } from 'commander';
import { type Role, roles } from '#contract/token.ts';
import { actor, getTenant, withDirectory } from './administration.ts';
import { addList, addRevoke } from './credential-commands.ts';
import {
  allowFromOption,
  endOf,
  expiresOption,
  jsonOption,
  nameOption,
  readName,
  tenantOption,
} from './credential-options.ts';
import type { Io } from './io.ts';

interface CreateOptions {
  readonly tenant: string;
  readonly name: string;
  readonly role: Role;
  readonly expires?: number;
  readonly allowFrom?: string[];
  readonly json?: boolean;
}

/** `belfry key`: automation keys, which may call what the dashboard calls. */
export function addKey(program: Command, io: Io): void {
  const key = program.command('key').description('make, list and revoke automation keys');
  key
    .command('create')
    .description('make an automation key; it is printed once and kept nowhere')
    .addOption(tenantOption())
    .addOption(nameOption().argParser(readName))
    .addOption(new Option('-r, --role <role>', 'what it may do').choices(roles).makeOptionMandatory())
    .addOption(expiresOption())
    .addOption(allowFromOption())
    .addOption(jsonOption('{"id","key"}'))
    .addHelpText('after', `\nExample:\n  KEY=$(${io.program} key create --role admin --name deploy)`)
    .action((options: CreateOptions) => create(io, options));
  addList(key, io, 'key');
  addRevoke(key, io, 'key');
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { newKey } = await import('#app.ts');
  const now = Date.now();
  // Made before the database is opened: a mistake in it leaves no new file behind.
  const { record, text } = newKey(
    0,
    {
      name: options.name,
      role: options.role,
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
    io.stdout.write(`${JSON.stringify({ id: record.id, key: text })}\n`);
    return;
  }
  io.stdout.write(`${text}\n`);
  const ends = record.expiresAt === null ? '' : `, until ${new Date(record.expiresAt).toISOString()}`;
  io.stderr.write(
    `Key ${record.id} with the role ${record.role}${ends}. It is not shown again; ${io.program} key revoke ${record.id} ends it.\n`,
  );
}
