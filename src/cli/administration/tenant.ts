import { type Command, InvalidArgumentError } from 'commander';
import type { Io } from '../io.ts';
import { jsonOption, readName } from '../options.ts';
import { briefTime, table } from '../terminal-text.ts';
import { actor, getTenant, isInNewDatabase, withDirectory } from './administration.ts';

/** `belfry tenant`: the customers or teams of this installation. */
export function addTenant(program: Command, io: Io): void {
  const tenant = program
    .command('tenant')
    .description('create, list, rename, suspend, resume and delete tenants');
  tenant
    .command('create')
    .description('create a tenant')
    .argument('<name>', 'lower case letters, digits and "-", at most 63', readTenantName)
    .option('--title <title>', 'as people read it (default: the name)', readName)
    .addHelpText('after', `\nExample:\n  ${io.program} tenant create acme --title "Acme Ltd"`)
    .action(async (name: string, { title }: { title?: string }) => {
      await withDirectory(io, { makes: !isInNewDatabase(name) }, ({ tenants }) =>
        tenants.create(name, title ?? name, actor, Date.now()),
      );
      io.stdout.write(`created: ${name}\n`);
      io.stderr.write(`A token for it: ${io.program} token create --tenant ${name} --name first\n`);
    });
  tenant
    .command('list')
    .description('show all tenants, and whether each is active or suspended')
    .option('--deleted', 'those that were deleted in the last year, and whether their data is removed yet')
    .addOption(jsonOption('an array, one object each'))
    .addHelpText('after', `\nExample:\n  ${io.program} tenant list`)
    .action(async ({ deleted, json }: { deleted?: boolean; json?: boolean }) => {
      if (deleted) return listDeleted(io, json === true);
      const records = await withDirectory(io, { makes: false }, ({ tenants }) => tenants.list());
      const found = records.map(({ id: _, createdAt, ...rest }) => ({
        ...rest,
        createdAt: new Date(createdAt).toISOString(),
      }));
      const rows = found.map(({ name, title, state, timeZone, createdAt }) => [
        name,
        title,
        state,
        timeZone,
        briefTime(createdAt),
      ]);
      const headings = ['NAME', 'TITLE', 'STATE', 'TIME ZONE', 'CREATED'];
      io.stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : table(headings, rows));
    });
  tenant
    .command('rename')
    .description('change the name of a tenant; its title, credentials, history and panels stay')
    .argument('<name>', 'name of the tenant')
    .argument('<new>', 'lower case letters, digits and "-", at most 63', readTenantName)
    .addHelpText('after', `\nExample:\n  ${io.program} tenant rename acme acme-europe`)
    .action(async (name: string, newName: string) => {
      await withDirectory(io, { makes: false }, async (directory) => {
        const { id } = await getTenant(io, directory, name);
        await directory.tenants.update(id, { name: newName }, actor, Date.now());
      });
      io.stdout.write(`renamed: ${name} is now ${newName}\n`);
    });
  addState(tenant, io, {
    name: 'suspend',
    description: 'refuse everything of a tenant until it is resumed: senders, screens, people and channels',
    state: 'suspended',
    done: 'suspended',
  });
  addState(tenant, io, {
    name: 'resume',
    description: 'end the suspension of a tenant',
    state: 'active',
    done: 'resumed',
  });
  tenant
    .command('delete')
    .description('delete a tenant with all that it has; accounts of its people stay')
    .argument('<name>', 'name of the tenant')
    .requiredOption('--yes', 'confirm; there is no way back')
    .addHelpText('after', `\nExample:\n  ${io.program} tenant delete acme --yes`)
    .action(async (name: string) => {
      await withDirectory(io, { makes: false }, async (directory) => {
        const { id } = await getTenant(io, directory, name);
        await directory.tenants.delete(id, actor, Date.now());
      });
      io.stdout.write(`deleted: ${name}\n`);
      io.stderr.write(
        `Its data is removed in the background while a server runs: ${io.program} tenant list --deleted shows when nothing is left.\n`,
      );
    });
}

async function listDeleted(io: Io, json: boolean): Promise<void> {
  const records = await withDirectory(io, { makes: false }, ({ tenants }) => tenants.listDeleted());
  const found = records.map(({ deletedAt, ...rest }) => ({
    ...rest,
    deletedAt: new Date(deletedAt).toISOString(),
  }));
  const rows = found.map(({ name, title, state, deletedAt, deletedBy }) => [
    name,
    title,
    state,
    briefTime(deletedAt),
    deletedBy,
  ]);
  const headings = ['NAME', 'TITLE', 'STATE', 'DELETED', 'BY'];
  io.stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : table(headings, rows));
}

function addState(
  tenant: Command,
  io: Io,
  wanted: {
    readonly name: string;
    readonly description: string;
    readonly state: 'active' | 'suspended';
    readonly done: string;
  },
): void {
  tenant
    .command(wanted.name)
    .description(wanted.description)
    .argument('<name>', 'name of the tenant')
    .addHelpText('after', `\nExample:\n  ${io.program} tenant ${wanted.name} acme`)
    .action(async (name: string) => {
      await withDirectory(io, { makes: false }, async (directory) => {
        const { id } = await getTenant(io, directory, name);
        await directory.tenants.setState(id, wanted.state, actor, Date.now());
      });
      io.stdout.write(`${wanted.done}: ${name}\n`);
    });
}

function readTenantName(text: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'It starts with a letter or digit, and has lower case letters, digits and "-" only.',
  );
}
