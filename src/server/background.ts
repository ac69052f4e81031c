/** Work in the background, beside requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { sendSteps } from '#core/alarms/escalations.ts';
import { openReturned } from '#core/alarms/standing.ts';
import { updateSuppression } from '#core/alarms/suppression.ts';
import { enforceLiveLimit, enforceRetention, removeDeletedTenants } from '#core/log/retention.ts';
import { boundAudit, forgetAudit } from '#core/tenants/audit.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { iso } from '#core/time/time.ts';
import { type ClockMemory, TrustedClock } from '#core/time/trusted-clock.ts';
import type { Services } from '#http/services.ts';
import type { Config } from '#settings/config.ts';
import type { Storage } from '#storage/database/storage.ts';
import type { Logger } from './log.ts';

const pollMs = 400;
const reportMs = 500;
const flushMs = 5_000;
const sweepMs = 2_000;
/** How often alarms are opened whose shelf or acknowledgement has ended, suppressed or brought back, and steps of escalations are sent. */
const alarmsMs = 1_000;
/** A pause between two batches, so that intake comes first. */
const sweepPauseMs = 20;
/** How soon a new calendar is read. */
const calendarsMs = 2_000;
/** How soon a channel takes commands, or no more. */
const commandsMs = 1_000;
const indexMs = 1_000;
const mostIndexPauseMs = 1_000;
const retentionMs = 60_000;
const wakeMs = 15_000;

interface Background {
  readonly storage: Storage;
  readonly directory: Directory;
  readonly clockMemory: ClockMemory;
  readonly clock: TrustedClock;
}

/**
 * Starts the loops. A run never overlaps the previous one, and an error is logged and does not end the loop. Returns a function
 * that stops them and resolves once none runs.
 */
export function startLoops(
  config: Config,
  logger: Logger,
  services: Services,
  { storage, directory, clockMemory, clock }: Background,
): () => Promise<void> {
  const { tenancy, tenantStreams, presence, limits, usage, history, bus, accounts, now } = services;
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
  const loop = async (name: string, everyMs: number, work: () => Promise<unknown>): Promise<void> => {
    let lastProblem: string | undefined;
    for (;;) {
      await pause(everyMs);
      if (signal.aborted) return;
      const problem = await work().then(
        () => undefined,
        (error: unknown) => {
          // While a database is away, each fails several times a second.
          if (String(error) !== lastProblem)
            logger.warn({ err: error, loop: name }, 'a background task failed; it goes on');
          return String(error);
        },
      );
      lastProblem = problem;
    }
  };
  const poll = async () => {
    await tenancy.poll();
    tenantStreams.useEpoch(tenancy.epoch);
  };
  // Takes over the channels of a dead node, and goes on with those of a tenant that is resumed.
  const wake = async () => {
    services.channels.wake();
    services.schedule.wake();
  };
  const sweep = async () => {
    while (!signal.aborted && (await storage.sweep(now())) > 0) await pause(sweepPauseMs);
  };
  // A loop of its own, because the one above does not end while many notifications expire.
  const sweepSignIns = async () => {
    await directory.pairings.sweep(now());
    await accounts.sweep(now());
  };
  const index = async () => {
    for (let startedAt = performance.now(); !signal.aborted && (await storage.indexNext?.()); ) {
      // The database has half of the time for what else it does.
      await pause(Math.min(performance.now() - startedAt, mostIndexPauseMs));
      startedAt = performance.now();
    }
  };
  /** The newest audit entry with which each tenant was last bounded: what is bounded grows only with an entry. */
  const bounded = new Map<number, string | null>();
  const stopped = () => signal.aborted;
  const boundTenants = async () => {
    for (const { tenant, id } of await directory.auditLog.newest()) {
      if (stopped()) return;
      if (bounded.get(tenant) === id) continue;
      await directory.credentials.forgetEnded(tenant, now());
      await boundAudit(directory.auditLog, tenant, stopped);
      bounded.set(tenant, id);
    }
  };
  const forget = async () => {
    await directory.invitations.sweep(now());
    await forgetAudit(directory.auditLog, clock.now(), stopped);
    await boundTenants();
  };
  const retention = {
    directory,
    history,
    bus,
    days: config.retention.days,
    count: config.retention.count,
    bounds: config.bounds,
    now,
    rulesPruned: new Map(),
  };
  const retain = async () => {
    await clockMemory.write(clock.observe());
    const warn = (message: string) => logger.warn(message);
    const onRemoved = (tenant: string) => logger.info({ tenant }, 'the data of a deleted tenant is removed');
    const round = async () => {
      try {
        await enforceRetention({ ...retention, trustedNow: () => clock.now() }, stopped);
      } finally {
        await enforceLiveLimit({ directory, history, bus, now, warn }, stopped);
        await removeDeletedTenants({ tenants: directory.tenants, history, now, onRemoved }, stopped);
      }
    };
    await (storage.retain ? storage.retain(round) : round());
  };
  const loops = [
    loop('poll', pollMs, poll),
    ...(storage.nodes
      ? [
          loop('commands', pollMs, () => presence.deliverCommands()),
          loop('report', reportMs, () => presence.report()),
          loop('limits', reportMs, () => limits.synchronize(now)),
          loop('limits-sweep', retentionMs, () => limits.sweep()),
        ]
      : []),
    loop('wake', wakeMs, wake),
    loop('flush', flushMs, () => usage.flush()),
    loop('alarms', alarmsMs, () => openReturned({ ...services, now }, stopped)),
    loop('suppress', alarmsMs, () => updateSuppression({ ...services, now }, stopped)),
    loop('escalations', alarmsMs, () => sendSteps(services, stopped)),
    loop('calendars', calendarsMs, () => services.calendars.readDue(stopped)),
    loop('channel-commands', commandsMs, () => services.answerSources.update()),
    loop('sweep', sweepMs, sweep),
    loop('sweep-sign-ins', sweepMs, sweepSignIns),
    ...(storage.indexNext ? [loop('index', indexMs, index)] : []),
    loop('audit', retentionMs, forget),
    loop('retention', retentionMs, retain),
    loop('deliveries', retentionMs, () => services.channels.trim(clock.now(), signal)),
  ];
  // Delivers what the last process left.
  services.channels.wake();
  return async () => {
    stopping.abort();
    await Promise.all([...loops, services.channels.stop(), services.ntfyUpstream?.stop()]);
    await services.answerSources.stop();
  };
}

const clockMessages = {
  jumped: 'the clock jumped: retention by age ignores the jump for a day; set the clock if it is wrong',
  restored: 'the clock is as it was before the jump',
  accepted: 'the clock has held for a day since it jumped: retention by age goes by it from now on',
};

/** The trusted clock, with the state of the last run; its changes are logged. */
export async function watchClock(
  memory: ClockMemory,
  logger: Logger,
  now: () => number,
): Promise<TrustedClock> {
  return new TrustedClock({
    now,
    monotonicNow: () => performance.now(),
    remembered: await memory.read(),
    onChange: (change, { wall, trusted }) =>
      logger.warn({ clock: iso(wall), trusted: iso(trusted) }, clockMessages[change]),
  });
}
