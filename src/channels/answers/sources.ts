/**
 * Gets the answers of systems that do not send them to an address of Belfry: keeps a connection for each channel that takes such
 * answers, or polls. On several nodes, one node does it for all channels.
 */
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import {
  type AnsweringSystems,
  type AnswersContext,
  type ChannelAnswer,
  takeAnswer,
} from '#core/channels/answers.ts';
import type {
  AnswerProblems,
  AnswerSources,
  ChannelRecord,
  ChannelService,
  Channels,
} from '#core/channels/channels.ts';
import { settlesWithin } from '#core/limits/concurrency.ts';
import type { SharedLease } from '#core/streams/nodes.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { createOutbounds } from '#outbound/outbound.ts';
import { createMask } from '../delivery-answer.ts';
import { createShownProblems, nameOf } from './shown-problems.ts';
import type { AnswerSource, SourceKind } from './source.ts';

interface SourcesOptions {
  readonly context: AnswersContext;
  readonly directory: {
    readonly channels: Pick<Channels, 'find' | 'listEnabled'>;
    readonly tenants: Pick<Directory['tenants'], 'get'>;
    readonly changedSince: Directory['changedSince'];
    readonly answerProblems: Pick<AnswerProblems, 'put' | 'clear'>;
  };
  readonly service: Pick<ChannelService, 'open'> & Pick<AnsweringSystems, 'showAnswer'>;
  /** Networks that channels may reach although they are not public. */
  readonly allow: readonly string[];
  /** undefined: this is the only node. */
  readonly lease: SharedLease | undefined;
  readonly onProblem: (error: unknown, of: { readonly tenant: string; readonly channel: string }) => void;
  /** At most once in ten seconds of a channel. */
  readonly onRefused: (
    reason: string,
    of: { readonly tenant: string; readonly channel: string; readonly alarm: string },
  ) => void;
}

const sourceKinds: ReadonlyMap<ChannelKind, SourceKind> = new Map([
  [
    'mqtt',
    {
      isWanted: ({ settings }) => settings.commands === 'on' && settings.stateTopic !== undefined,
      load: async () => {
        const { MqttCommands } = await import('./mqtt.ts');
        return (options) => new MqttCommands(options);
      },
    },
  ],
  [
    'telegram',
    {
      isWanted: ({ settings }) => settings.polling === 'on',
      load: async () => (await import('./telegram.ts')).createTelegramPolling(),
    },
  ],
  [
    'alertmanager',
    {
      isWanted: ({ settings }) => settings.silences !== 'off',
      load: async () => {
        const { AlertmanagerSilences } = await import('./alertmanager.ts');
        return (options) => new AlertmanagerSilences(options);
      },
    },
  ],
]);

const renewEveryMs = 5_000;
/** Shorter than the lease: afterwards another node may have it. */
const heldMs = 12_000;
/** The most characters that are kept of what a system says. */
const problemChars = 300;
/** A failure that comes sooner after another one is not logged again. */
const lastingMs = 60_000;
/** The same of an answer that does nothing. */
const refusedEveryMs = 10_000;

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
  readonly source: AnswerSource | undefined;
}

const isWanted = (channel: ChannelRecord): boolean =>
  channel.enabled && (sourceKinds.get(channel.kind)?.isWanted(channel) ?? false);

export function createAnswerSources(options: SourcesOptions): AnswerSources {
  const { context, directory, service, lease, onProblem } = options;
  const outboundOf = createOutbounds(options.allow);
  const open = new Map<string, Open>();
  const starts = new Map<ChannelKind, Awaited<ReturnType<SourceKind['load']>>>();
  const turn = createTurn(lease);
  const shown = createShownProblems(directory.answerProblems);
  let wanted: readonly Wanted[] = [];
  let known: { readonly epoch: string; readonly revision: number } | undefined;

  const readWanted = async () => {
    const changes = await directory.changedSince(known?.revision ?? 0);
    if (known && changes.epoch === known.epoch && changes.tenants.length === 0) return;
    const found: Wanted[] = [];
    for (const kind of sourceKinds.keys())
      for (const channel of (await directory.channels.listEnabled(kind)).filter(isWanted)) {
        const { name: tenant } = await directory.tenants.get(channel.tenant);
        found.push({ channel, tenant, version: `${channel.updatedAt} ${tenant}` });
      }
    [wanted, known] = [found, changes];
  };
  const onAnswer = async ({ channel: asStarted }: Wanted, answer: ChannelAnswer) => {
    const { tenant, id, updatedAt } = asStarted;
    // It may have been changed since: to another system, for example.
    const channel = await directory.channels.find(tenant, id);
    if (channel?.updatedAt !== updatedAt || !isWanted(channel) || !turn.isOurs()) return undefined;
    return takeAnswer(context, channel, answer);
  };
  const start = async (each: Wanted): Promise<AnswerSource | undefined> => {
    const { channel, tenant } = each;
    const of = { tenant, channel: channel.name };
    let failedAt = Number.NEGATIVE_INFINITY;
    let refusedAt = Number.NEGATIVE_INFINITY;
    const refuse = (alarm: string, reason: string) => {
      if (performance.now() - refusedAt < refusedEveryMs) return;
      options.onRefused(reason, { ...of, alarm });
      refusedAt = performance.now();
    };
    const fail = (error: unknown, message: string) => {
      shown.set(channel, { since: context.now(), message });
      if (performance.now() - failedAt >= lastingMs) onProblem(error, of);
      failedAt = performance.now();
    };
    shown.set(channel, undefined);
    try {
      const setup = { id: channel.id, settings: channel.settings, secrets: service.open(channel) };
      // A system writes the reason for a refusal, which could have the password.
      const mask = createMask(Object.values(setup.secrets));
      const masked = (error: Error) => mask(error.message).slice(0, problemChars);
      // Channels start one after another. What could not be loaded is loaded again for the next one.
      const startSource = starts.get(channel.kind) ?? (await sourceKinds.get(channel.kind)?.load());
      if (startSource) starts.set(channel.kind, startSource);
      return startSource?.({
        ...{ channel, tenant, setup, context, outbound: outboundOf(channel.tenant) },
        onAnswer: (answer) => onAnswer(each, answer),
        showAnswer: service.showAnswer,
        onProblem: (error) => fail(masked(error), masked(error)),
        onWorking: () => shown.set(channel, undefined),
        onLost: (error) => onProblem(masked(error), of),
        onRefused: refuse,
      });
    } catch (error) {
      fail(error, (error as Error).message.slice(0, problemChars));
      return undefined;
    }
  };
  const follow = async (channels: readonly Wanted[]) => {
    const byName = new Map(channels.map((each) => [nameOf(each.channel), each]));
    const ended = [...open].filter(([name, { version }]) => byName.get(name)?.version !== version);
    for (const [name] of ended) open.delete(name);
    await Promise.all(ended.map(([, { source }]) => source?.close()));
    shown.keep(byName);
    for (const [name, each] of byName)
      if (!open.has(name)) open.set(name, { version: each.version, source: await start(each) });
  };

  return {
    async update() {
      await readWanted();
      if (wanted.length > 0) await turn.take();
      const isOurs = turn.isOurs();
      await follow(isOurs ? wanted : []);
      // Without a channel, what a node has left is of none.
      if (isOurs || wanted.length === 0) await shown.write();
      else shown.forget();
      if (wanted.length === 0) await turn.end();
    },
    async stop() {
      await follow([]);
      await turn.end();
    },
  };
}

/** Which node gets the answers. */
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
