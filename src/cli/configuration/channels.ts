/** The channels of a file, made ready: their settings checked, and their secrets taken from the environment. */
import type { ChannelSecretsAnswer } from '#contract/channels/channel.ts';
import { channelFields } from '#contract/channels/channel-fields.ts';
import type { ChannelEntry } from '#contract/configuration.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';
import type { Connection } from './connection.ts';
import type { Current, Path } from './entries.ts';
import { type ConfigurationFile, pathOfPointer } from './file.ts';

type Known = Current['channels'][number];
type Texts = Readonly<Record<string, string>>;
export type SecretValues = ReadonlyMap<string, Texts>;

export interface ReadyChannels {
  /** Their secrets are still placeholders. */
  readonly entries: readonly ChannelEntry[] | undefined;
  /** By channel: the secrets that the environment has. */
  readonly values: SecretValues;
  /** By channel: the placeholder of each secret that the server has with the same value. */
  readonly unchanged: ReadonlyMap<string, Texts>;
  /** What people should know, as lines. */
  readonly notes: readonly string[];
}

interface Sources {
  readonly file: ConfigurationFile;
  readonly current: Pick<Current, 'channels'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Stands in a plan for a secret whose value the server has and nobody can read. */
export const otherValue = '(another value)';

/**
 * A secret that the environment does not have stays as it is on the server.
 *
 * @throws Failure with line and column of each mistake: a variable that is needed and not set, a setting that is not valid.
 */
export async function readyChannels(
  connection: Connection,
  { file, current, env }: Sources,
): Promise<ReadyChannels> {
  const { channels } = file.configuration;
  if (!channels) return { entries: undefined, values: new Map(), unchanged: new Map(), notes: [] };
  const byName = new Map(current.channels.map((each) => [each.name, each]));
  const notes: string[] = [];
  const problems: Failure[] = [];
  const entries: ChannelEntry[] = [];
  const values = new Map<string, Texts>();
  for (const [index, given] of channels.entries()) {
    const entry = { ...given, name: given.name.trim() };
    const known = byName.get(entry.name);
    const read = secretsOf(entry, { known, env, at: (...path) => ['channels', index, ...path] });
    problems.push(...read.missing.map(({ path, message }) => file.problem(path, message)));
    notes.push(...read.notes);
    if (read.missing.length > 0) continue;
    values.set(entry.name, read.values);
    try {
      entries.push(await checked(entry, read.values, known));
    } catch (error) {
      problems.push(located(file, ['channels', index], error));
    }
  }
  if (problems.length > 0) throw new Failure(problems.map(({ message }) => message).join('\n'), 2);
  const unchanged = new Map<string, Texts>();
  for (const entry of entries) {
    const known = byName.get(entry.name);
    if (!known) continue;
    const differing = await differingSecrets(connection, known.id, values.get(entry.name) ?? {});
    unchanged.set(entry.name, knownSecrets(entry, known, differing));
  }
  return { entries, values, unchanged, notes };
}

interface Reading {
  readonly known: Known | undefined;
  readonly env: Sources['env'];
  readonly at: (...path: Path) => Path;
}

/** The values of an entry's secrets, and what is missing of them. */
function secretsOf({ name, kind, secrets = {} }: ChannelEntry, { known, env, at }: Reading) {
  const values: Record<string, string> = {};
  const missing: { readonly path: Path; readonly message: string }[] = [];
  const notes: string[] = [];
  for (const [secret, placeholder] of Object.entries(secrets)) {
    const variable = placeholder.slice(2, -1);
    const value = env[variable]?.trim() ?? '';
    if (value !== '') values[secret] = value;
    else if (known?.secrets.includes(secret))
      notes.push(
        `channel "${visibleText(name)}" keeps its ${secret}: the environment variable ${variable} is not set`,
      );
    else
      missing.push({
        path: at('secrets', secret),
        message: `the environment variable ${variable} is not set`,
      });
  }
  const key = channelFields[kind].find(({ type }) => type === 'signing-key')?.name;
  if (!known && key !== undefined && secrets[key] === undefined)
    notes.push(
      `channel "${visibleText(name)}" gets a ${key} that nobody can read: name one under its secrets, and receivers can verify what they get`,
    );
  return { values, missing, notes };
}

/** With its settings as the server keeps them. @throws as the server does for a channel that is not valid. */
async function checked(entry: ChannelEntry, secrets: Texts, known: Known | undefined): Promise<ChannelEntry> {
  // Imported only if the file has channels, because it loads the server.
  const { changedChannelFields, newChannelFields } = await import('#server/app.ts');
  const { name, kind, settings } = entry;
  const given = { ...(settings && { settings }), ...(Object.keys(secrets).length > 0 && { secrets }) };
  if (!known) return { ...entry, settings: { ...newChannelFields({ name, kind, ...given }).settings } };
  if (known.kind !== kind)
    throw new Failure(`the server has it as ${known.kind}, and a kind cannot be changed: use another name`);
  const before = { settings: known.settings, names: known.secrets, secrets: {} };
  const changed = changedChannelFields(kind, given, before);
  return { ...entry, ...(changed.settings && { settings: { ...changed.settings } }) };
}

/** The names of the secrets whose value is not that of the channel. */
async function differingSecrets(
  { request }: Connection,
  id: string,
  secrets: Texts,
): Promise<readonly string[]> {
  if (Object.keys(secrets).length === 0) return [];
  const path = `/api/channels/${id}/compare-secrets`;
  return (await request<ChannelSecretsAnswer>('POST', path, { secrets })).differing;
}

function knownSecrets(
  { secrets = {} }: ChannelEntry,
  { secrets: names }: Known,
  differing: readonly string[],
): Texts {
  return Object.fromEntries(
    Object.entries(secrets)
      .filter(([name]) => names.includes(name))
      .map(([name, placeholder]) => [name, differing.includes(name) ? otherValue : placeholder]),
  );
}

function located(file: ConfigurationFile, path: Path, error: unknown): Failure {
  if (error instanceof Failure) return file.problem([...path, 'kind'], error.message);
  const { message, place } = error as Error & { readonly place?: { readonly pointer?: string } };
  if (place?.pointer === undefined) throw error;
  const inner = pathOfPointer(place.pointer);
  // The place names the field, too.
  return file.problem([...path, ...inner], message.replace(/^[\w.]+: /, ''));
}

/** Names of environment variables for the secrets of these channels: as in CHANNEL_OPS_SIGNING_KEY. */
export function placeholdersOf(channels: readonly Pick<Known, 'name' | 'secrets'>[]): Texts[] {
  const taken = new Set<string>();
  return channels.map(({ name, secrets }) =>
    Object.fromEntries(
      secrets.map((secret) => {
        const words = [name, secret.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)].map((each) =>
          each
            .normalize('NFKD')
            .toUpperCase()
            .replaceAll(/[^A-Z0-9]+/g, '_')
            .replaceAll(/^_+|_+$/g, ''),
        );
        const base = ['CHANNEL', ...words].filter((word) => word !== '').join('_');
        let variable = base;
        for (let n = 2; taken.has(variable); n += 1) variable = `${base}_${n}`;
        taken.add(variable);
        return [secret, `\${${variable}}`];
      }),
    ),
  );
}
