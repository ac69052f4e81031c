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

interface Open {
  readonly updatedAt: number;
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
  let wanted: readonly ChannelRecord[] = [];
  let known: { readonly epoch: string; readonly revision: number } | undefined;

  const readWanted = async () => {
    const changes = await directory.changedSince(known?.revision ?? 0);
    if (known && changes.epoch === known.epoch && changes.tenants.length === 0) return;
    wanted = (await directory.channels.listEnabled('mqtt')).filter(takesCommands);
    known = changes;
  };
  const onCommand = async (tenant: string, { tenant: of, id }: ChannelRecord, command: Command) => {
    try {
      const channel = await directory.channels.find(of, id);
      if (!channel || !takesCommands(channel) || !turn.isOurs()) return;
      const alarm = await findAlarm(context, of, command.alarmName);
      const { kind, note } = command;
      if (alarm !== undefined)
        await takeAnswer(context, channel, { kind, alarm, note, by: personIn(channel.name, command.by) });
    } catch (error) {
      onProblem(error, { tenant, channel: id });
    }
  };
  const start = async (channel: ChannelRecord): Promise<CommandSubscription | undefined> => {
    const { name: tenant } = await directory.tenants.get(channel.tenant);
    const of = { tenant, channel: channel.name };
    try {
      const setup = { settings: channel.settings, secrets: service.open(channel) };
      const { CommandSubscription } = await import('./kinds/mqtt-commands.ts');
      return new CommandSubscription({
        ...{ tenant, setup, outbound: outboundOf(channel.tenant) },
        onCommand: (command) => onCommand(tenant, channel, command),
        onProblem: (error) => onProblem(error, of),
      });
    } catch (error) {
      onProblem(error, of);
      return undefined;
    }
  };
  const follow = async (channels: readonly ChannelRecord[]) => {
    const byName = new Map(channels.map((channel) => [`${channel.tenant} ${channel.id}`, channel]));
    const ended = [...open].filter(([name, { updatedAt }]) => byName.get(name)?.updatedAt !== updatedAt);
    for (const [name] of ended) open.delete(name);
    await Promise.all(ended.map(([, { subscription }]) => subscription?.close()));
    for (const [name, channel] of byName) {
      if (open.has(name)) continue;
      open.set(name, { updatedAt: channel.updatedAt, subscription: await start(channel) });
    }
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
