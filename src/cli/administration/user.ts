import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Role, roles } from '#contract/people/token.ts';
import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { jsonOption, nameOption, tenantOption } from '../options.ts';
import { briefTime, table } from '../terminal-text.ts';
import {
  type Accounts,
  actor,
  type Directory,
  getTenant,
  isInNewDatabase,
  withDirectory,
} from './administration.ts';

interface CreateOptions {
  readonly email: string;
  readonly name: string;
  readonly tenant: string;
  readonly role: Role;
  readonly passwordStdin?: boolean;
  readonly json?: boolean;
}

interface PasswordOptions {
  readonly passwordStdin?: boolean;
  /** False with --no-two-factor. */
  readonly twoFactor: boolean;
  readonly keepPasskeys?: boolean;
  readonly json?: boolean;
}

const passwordOption = () =>
  new Option('--password-stdin', 'read the password from stdin (default: a new one is printed once)');

/** `belfry user`: people's accounts, whether a server runs or not. */
export function addUser(program: Command, io: Io): void {
  const user = program
    .command('user')
    .description("create, list and delete people's accounts, and set their passwords");
  user
    .command('create')
    .description('create an account, as a member of a tenant')
    .requiredOption('-e, --email <address>', 'email address to sign in with')
    .addOption(nameOption('what the person is called'))
    .addOption(tenantOption())
    .addOption(new Option('-r, --role <role>', 'what they may do').choices(roles).makeOptionMandatory())
    .addOption(passwordOption())
    .addOption(jsonOption('{"id","email","password"}, without a password that came from stdin'))
    .addHelpText(
      'after',
      `\nExample:\n  ${io.program} user create --email anna@example.org --name Anna --role owner`,
    )
    .action((options: CreateOptions) => create(io, options));
  user
    .command('list')
    .description('show all accounts and the tenants they belong to')
    .addOption(jsonOption('an array, one object each'))
    .addHelpText('after', `\nExample:\n  ${io.program} user list`)
    .action(({ json }: { json?: boolean }) => list(io, json === true));
  user
    .command('password')
    .description('set a new password, which ends every session of the account and removes its passkeys')
    .argument('<email>', 'email address of the account', readAddress)
    .addOption(passwordOption())
    .option('--no-two-factor', 'remove two-factor authentication too, if the person has lost the device')
    .option('--keep-passkeys', 'keep the passkeys, if only the password was forgotten')
    .addOption(
      jsonOption(
        '{"id","email","password","passkeysRemoved","identities"}, without a password that came from stdin',
      ),
    )
    .addHelpText('after', `\nExample:\n  ${io.program} user password anna@example.org --no-two-factor`)
    .action((email: string, options: PasswordOptions) => reset(io, email, options));
  user
    .command('delete')
    .description('delete an account: its memberships, sessions, passkeys, and the keys that it made')
    .argument('<email>', 'email address of the account', readAddress)
    .requiredOption('--yes', 'confirm; there is no way back')
    .addHelpText('after', `\nExample:\n  ${io.program} user delete anna@example.org --yes`)
    .action((email: string) => remove(io, email));
}

/** Memberships first, each with its line in the tenant's audit log: after an interruption the command can be repeated. */
async function remove(io: Io, email: string): Promise<void> {
  await withDirectory(io, { makes: false }, async ({ members }, accounts) => {
    const { id } = await getPerson(io, accounts, email);
    const memberships = await members.ofPerson(id);
    const owned = await Promise.all(
      memberships.map(async ({ tenant, role }) => {
        const roles = [...(await members.roles(tenant.id)).values()];
        return role === 'owner' && roles.filter((each) => each === 'owner').length === 1 ? [tenant.name] : [];
      }),
    );
    if (owned.flat().length > 0) throw lastOwner(email, owned.flat());
    for (const { tenant } of memberships) {
      const change = { tenant: tenant.id, person: id, as: 'owner', by: actor, at: Date.now() } as const;
      if ((await members.remove(change)) === 'last-owner') throw lastOwner(email, [tenant.name]);
    }
    if (!(await accounts.remove(id)))
      throw new Failure(`${email} has just become a member of a tenant again: run the command once more`);
  });
  io.stdout.write(`deleted: ${email}\n`);
}

const lastOwner = (email: string, tenants: readonly string[]) =>
  new Failure(`${email} is the last owner of ${tenants.join(', ')}: make another member an owner first`);

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { newPerson } = await import('#server/app.ts');
  const { email, name, role } = options;
  const chosen = await choosePassword(io, options.passwordStdin);
  // Checked before the database is opened, so that a wrong option leaves no new file behind.
  const person = await newPerson({ email, name, password: chosen.password, emailVerified: true });
  await withDirectory(io, { makes: isInNewDatabase(options.tenant) }, async (directory, accounts) => {
    const { id } = await getTenant(io, directory, options.tenant);
    if (!(await accounts.addMember(person, { tenant: id, role }, actor, Date.now())))
      throw new Failure(
        `there is an account ${person.email} already: ${io.program} user password ${person.email} sets its password, an invitation brings it into another tenant`,
      );
  });
  printResult(io, { id: person.id, email: person.email }, { ...options, ...chosen });
}

async function reset(io: Io, email: string, options: PasswordOptions): Promise<void> {
  const { hashNewPassword } = await import('#server/app.ts');
  const chosen = await choosePassword(io, options.passwordStdin);
  const keepPasskeys = options.keepPasskeys === true;
  const { person, ...left } = await withDirectory(io, { makes: false }, async (_, accounts) => {
    const found = await getPerson(io, accounts, email);
    const hash = await hashNewPassword(chosen.password, [found.name, found.email]);
    const at = Date.now();
    const kept = { keepTwoFactor: options.twoFactor, keepPasskeys, at };
    const outcome = await accounts.resetPassword(found.id, hash, kept);
    const { passkeysRemoved } = outcome;
    const detail = {
      reset: true,
      ...(!options.twoFactor && { twoFactor: false }),
      ...(passkeysRemoved > 0 && { passkeysRemoved }),
    };
    await accounts.note(found.id, { by: actor, at, action: 'account.password', subject: found.id, detail });
    return { person: found, ...outcome };
  });
  printResult(io, { id: person.id, email: person.email, ...left }, { ...options, ...chosen });
  if (options.json) return;
  if (left.passkeysRemoved > 0) io.stderr.write(`Passkeys removed: ${left.passkeysRemoved}.\n`);
  if (left.identities > 0)
    io.stderr.write(
      'It still signs in at the identity provider: if that is in wrong hands too, put it right there.\n',
    );
}

async function list(io: Io, json: boolean): Promise<void> {
  const people = await withDirectory(io, { makes: false }, async (directory, accounts) =>
    Promise.all(
      (await accounts.list()).map(async ({ createdAt, ...person }) => ({
        ...person,
        tenants: await tenantsOf(directory, person.id),
        createdAt: new Date(createdAt).toISOString(),
      })),
    ),
  );
  const rows = people.map(({ email, name, twoFactor, tenants, createdAt }) => [
    email,
    name,
    tenants.map(({ name: tenant, role }) => `${tenant}:${role}`).join(' ') || '-',
    twoFactor ? 'yes' : 'no',
    briefTime(createdAt),
  ]);
  const headings = ['EMAIL', 'NAME', 'TENANTS', 'TWO-FACTOR', 'CREATED'];
  io.stdout.write(json ? `${JSON.stringify(people, null, 2)}\n` : table(headings, rows));
}

async function tenantsOf({ members }: Directory, person: string) {
  return (await members.ofPerson(person)).map(({ tenant, role }) => ({ name: tenant.name, role }));
}

async function getPerson(io: Io, accounts: Accounts, email: string) {
  const found = await accounts.findByEmail(email);
  if (found) return found;
  throw new Failure(`there is no account ${email}: ${io.program} user list shows all`);
}

/** The password from stdin, or a new random one, which is printed. */
async function choosePassword(io: Io, fromStdin = false): Promise<{ password: string; isNew: boolean }> {
  if (!fromStdin) {
    const { randomSecret } = await import('#server/app.ts');
    // 20 of 62 characters: 119 bits, and short enough to type.
    return { password: randomSecret().slice(0, 20), isNew: true };
  }
  let text = '';
  for await (const chunk of io.stdin) text += chunk;
  return { password: text.replace(/\r?\n$/, ''), isNew: false };
}

function printResult(
  io: Io,
  result: { readonly id: string; readonly email: string },
  { json, password, isNew }: { readonly json?: boolean; readonly password: string; readonly isNew: boolean },
): void {
  if (json) {
    io.stdout.write(`${JSON.stringify({ ...result, ...(isNew && { password }) })}\n`);
    return;
  }
  const { email } = result;
  if (isNew) io.stdout.write(`${password}\n`);
  io.stderr.write(
    isNew ? `The password of ${email}. It is not shown again.\n` : `The password of ${email} is set.\n`,
  );
}

function readAddress(text: string): string {
  if (text.includes('@')) return text.trim().toLowerCase();
  throw new InvalidArgumentError('It is an email address, as in anna@example.org.');
}
