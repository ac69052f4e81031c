/** Listing and revoking, which is the same for tokens and keys. */
import type { Command } from 'commander';
import type { Key, Token } from '#contract/token.ts';
import { actor, getTenant, withDirectory } from './administration.ts';
import { jsonOption, tenantOption } from './credential-options.ts';
import { Failure } from './failure.ts';
import type { Io } from './io.ts';
import { briefTime, table } from './table.ts';

type Kind = 'token' | 'key';

export function addList(parent: Command, io: Io, kind: Kind): void {
  parent
    .command('list')
    .description(`show the ${kind}s of a tenant, revoked ones included`)
    .addOption(tenantOption())
    .addOption(jsonOption('an array, one object each'))
    .addHelpText('after', `\nExample:\n  ${io.program} ${kind} list --json`)
    .action(async ({ tenant, json }: { tenant: string; json?: boolean }) => {
      const found = await withDirectory(io, async (directory) => {
        const { keyView, tokenView } = await import('#app.ts');
        const { id } = await getTenant(io, directory, tenant);
        const records = await directory.credentials.list(id, kind);
        return records.map<Token | Key>(kind === 'token' ? tokenView : keyView);
      });
      io.stdout.write(json ? `${JSON.stringify(found, null, 2)}\n` : listed(found, kind, Date.now()));
      if (found.length === 0 && !json)
        io.stderr.write(`no ${kind}s yet: ${io.program} ${kind} create --help\n`);
    });
}

export function addRevoke(parent: Command, io: Io, kind: Kind): void {
  parent
    .command('revoke')
    .description(`end a ${kind} for good; a running server refuses it within a second`)
    .argument('<id>', `the ${kind}'s id, as list shows it (the ${kind} itself is understood, too)`)
    .addHelpText('after', `\nExample:\n  ${io.program} ${kind} revoke 4fT0aQz81k`)
    .action(async (text: string) => {
      const id = /^bf[yk]_([^_]+)_/.exec(text)?.[1] ?? text;
      const { name, was } = await withDirectory(io, async ({ credentials }) => {
        const record = await credentials.find(id);
        if (record?.kind !== kind)
          throw new Failure(`there is no ${kind} with the id ${id}: ${io.program} ${kind} list shows all`);
        await credentials.revoke(record.tenant, kind, id, actor, Date.now());
        return { name: record.name, was: record.revokedAt };
      });
      const before = was === null ? '' : ` already on ${briefTime(new Date(was).toISOString())}`;
      io.stdout.write(`revoked${before}: ${id} (${name})\n`);
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
