/**
 * Keeps a connection to the broker of each channel that takes commands, and does what they say. On several nodes, one node does it for
 * all channels.
 */
import { standingStates } from '#contract/history/alarm-states.ts';
import { listAlarms } from '#core/alarms/standing.ts';
import { type AnswersContext, personIn, takeAnswer } from '#core/channels/answers.ts';
import type { ChannelCommands, ChannelRecord, ChannelService, Channels } from '#core/channels/channels.ts';
import { settlesWithin } from '#core/limits/concurrency.ts';
import type { TenantId } from '#core/log/route.ts';
import type { SharedLease } from '#core/streams/nodes.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { createOutbounds } from '#outbound/outbound.ts';
import { createMask } from './answer.ts';
import type { Command, CommandSubscription } from './kinds/mqtt-commands.ts';

interface CommandsOptions {
  readonly context: AnswersContext;
  readonly directory: {
    readonly channels: Pick<Channels, 'find' | 'listEnabled'>;
    readonly tenants: Pick<Directory['tenants'], 'get'>;
    readonly changedSince: Directory['changedSince'];
  };
  readonly service: Pick<ChannelService, 'open'>;
  /** Networks that channels may reach although they are not public. */
  readonly allow: readonly string[];
  /** undefined: this is the only node. */
  readonly lease: SharedLease | undefined;
  readonly onProblem: (error: unknown, of: { readonly tenant: string; readonly channel: string }) => void;
}

const renewEveryMs = 5_000;
/** Shorter than the lease: afterwards another node may have it. */
const heldMs = 12_000;
/** The most standing alarms whose names are compared with that of a command. */
const mostCompared = 100;
/** The most characters of what a broker says that the log has. */
const problemChars = 300;

interface Wanted {
  readonly channel: ChannelRecord;
  /** The name of its tenant, which topics may have. */
  readonly tenant: string;
  /** Changes with both. */
  readonly version: string;
}

interface Open {
  readonly version: string;
  /** undefined: it could not be started, and waits for a change of the channel. */
  readonly subscription: CommandSubscription | undefined;
}

const takesCommands = ({ kind, enabled, settings }: ChannelRecord): boolean =>
  kind === 'mqtt' && enabled && settings.commands === 'on' && settings.stateTopic !== undefined;

export function createChannelCommands(options: CommandsOptions): ChannelCommands {
  const { context, directory, service, lease, onProblem } = options;
  const outboundOf = createOutbounds(options.allow);
  const open = new Map<string, Open>();
  const turn = createTurn(lease);
  let wanted: readonly Wanted[] = [];
  let known: { readonly epoch: string; readonly revision: number } | undefined;

  const readWanted = async () => {
    const changes = await directory.changedSince(known?.revision ?? 0);
    if (known && changes.epoch === known.epoch && changes.tenants.length === 0) return;
    const channels = (await directory.channels.listEnabled('mqtt')).filter(takesCommands);
    const found: Wanted[] = [];
    for (const channel of channels) {
      const { name: tenant } = await directory.tenants.get(channel.tenant);
      found.push({ channel, tenant, version: `${channel.updatedAt} ${tenant}` });
    }
    [wanted, known] = [found, changes];
  };
  const onCommand = async ({ channel: asStarted, tenant }: Wanted, command: Command) => {
    const { tenant: of, id, updatedAt } = asStarted;
    try {
      // It may have been changed since: to another broker, for example.
      const channel = await directory.channels.find(of, id);
      if (channel?.updatedAt !== updatedAt || !takesCommands(channel) || !turn.isOurs()) return;
      const alarm = await findAlarm(context, of, command.alarmName);
      const { kind, note } = command;
      if (alarm !== undefined)
        await takeAnswer(context, channel, { kind, alarm, note, by: personIn(channel.name, command.by) });
    } catch (error) {
      onProblem(error, { tenant, channel: asStarted.name });
    }
  };
  const start = async (each: Wanted): Promise<CommandSubscription | undefined> => {
    const { channel, tenant } = each;
    const of = { tenant, channel: channel.name };
    try {
      const setup = { settings: channel.settings, secrets: service.open(channel) };
      // A broker writes the reason for a refusal, which could have the password.
      const mask = createMask(Object.values(setup.secrets));
      const { CommandSubscription } = await import('./kinds/mqtt-commands.ts');
      return new CommandSubscription({
        ...{ tenant, setup, outbound: outboundOf(channel.tenant) },
        onCommand: (command) => onCommand(each, command),
        onProblem: (error) => onProblem(mask(error.message).slice(0, problemChars), of),
      });
    } catch (error) {
      onProblem(error, of);
      return undefined;
    }
  };
  const follow = async (channels: readonly Wanted[]) => {
    const byName = new Map(channels.map((each) => [`${each.channel.tenant} ${each.channel.id}`, each]));
    const ended = [...open].filter(([name, { version }]) => byName.get(name)?.version !== version);
    for (const [name] of ended) open.delete(name);
    await Promise.all(ended.map(([, { subscription }]) => subscription?.close()));
    for (const [name, each] of byName)
      if (!open.has(name)) open.set(name, { version: each.version, subscription: await start(each) });
  };

  return {
    async update() {
      await readWanted();
      if (wanted.length === 0) await turn.end();
      else await turn.take();
      await follow(turn.isOurs() ? wanted : []);
    },
    async stop() {
      await follow([]);
      await turn.end();
    },
  };
}

/** The key or the id in the place of which a topic has `name`; undefined: no alarm that stands has this name. */
async function findAlarm(
  context: AnswersContext,
  tenant: TenantId,
  name: string,
): Promise<string | undefined> {
  const { alarmName, keyPatternOf } = await import('./kinds/mqtt.ts');
  if (alarmName(name) === name) return name;
  const { records } = await listAlarms(context, tenant, {
    query: { kind: 'key', patterns: [keyPatternOf(name)] },
    ...{ states: standingStates, limit: mostCompared },
  });
  return records.find(({ key }) => key !== null && alarmName(key) === name)?.key ?? undefined;
}

/** Which node takes commands. */
function createTurn(lease: SharedLease | undefined) {
  let renewAt = 0;
  let heldUntil = 0;
  return {
    async take(): Promise<void> {
      const now = performance.now();
      if (!lease || now < renewAt) return;
      renewAt = now + renewEveryMs;
      const holding = lease.hold();
      if (await settlesWithin(holding, renewEveryMs)) heldUntil = (await holding) ? now + heldMs : 0;
    },
    async end(): Promise<void> {
      const isHeld = heldUntil > 0;
      [heldUntil, renewAt] = [0, 0];
      if (isHeld) await lease?.release();
    },
    isOurs: (): boolean => lease === undefined || performance.now() < heldUntil,
  };
}
