/** Wiring of expectations, and of notifications of lost panels and of times at which nobody is on call. */

import { AppError } from '../errors.ts';
import type { Intake, IntakeOptions } from '../intake/intake.ts';
import type { Bus } from '../log/bus.ts';
import type { History } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { TakeOffContext } from '../log/take-off.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import { type ExpectationContext, expectNext, raiseMissing } from './expectations.ts';
import { type LostPanelContext, lookAtPanel } from './lost-panels.ts';
import { lookAtOnCall, type OnCallContext } from './on-call-gaps.ts';
import { RunningKeys } from './running-keys.ts';
import { type DueTimes, Schedule } from './schedule.ts';

interface AttentionOptions extends Pick<TakeOffContext, 'channels'> {
  readonly dueTimes: DueTimes;
  readonly history: Pick<History, 'find' | 'findLive' | 'clear' | 'search'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly isShared: boolean;
  readonly onError: (error: unknown) => void;
  /** Called when the tenant has the most expectations allowed. */
  readonly onRefused: (tenant: TenantId) => void;
  /** Called the first time, and then once a minute while it continues. */
  readonly onFull: (tenant: TenantId, reason: string) => void;
}

export interface AttentionParts {
  readonly schedule: Schedule;
  readonly expect: IntakeOptions['expect'];
  readonly isRunning: IntakeOptions['isRunning'];
  /** Call it before the schedule starts. */
  handleWith(
    intake: Pick<Intake, 'raise' | 'findRaised'>,
    directory: Pick<LostPanelContext, 'panels' | 'presence' | 'usage'> &
      Pick<ExpectationContext, 'credentials'> &
      Pick<OnCallContext, 'onCall'>,
  ): void;
}

const fullAgainMs = 60_000;

export function createAttention(options: AttentionOptions): AttentionParts {
  const { history, bus, channels, tenancy, now, monotonicNow } = options;
  const schedule = new Schedule(options);
  const running = new RunningKeys(options.dueTimes, monotonicNow);
  const fullSaidAt = new Map<TenantId, number>();
  /** The notification is stored in any case. */
  const reportTooMany = (tenant: TenantId, error: unknown): void => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    options.onRefused(tenant);
    if (monotonicNow() < (fullSaidAt.get(tenant) ?? Number.NEGATIVE_INFINITY) + fullAgainMs) return;
    fullSaidAt.set(tenant, monotonicNow());
    options.onFull(tenant, error.message);
  };
  return {
    schedule,
    isRunning: (tenant, key) => running.has(tenant, key),
    expect: (sender, sourceIp, fields) =>
      expectNext({ schedule, tenancy, running }, { sender, sourceIp, fields }).then(
        () => undefined,
        (error: unknown) => {
          reportTooMany(sender.tenant, error);
          return `The notification is stored, but the next one is not expected: ${(error as Error).message}`;
        },
      ),
    handleWith(intake, { credentials, onCall, ...ofPanels }) {
      const context = { schedule, intake, history, bus, channels, now };
      schedule.handle('expectation', (due) => raiseMissing({ ...context, credentials }, due));
      schedule.handle('iphone', async (due) => void (await options.dueTimes.settle(due, undefined)));
      schedule.handle('on-call', (due) => lookAtOnCall({ ...context, onCall }, due));
      const lost = { ...context, ...ofPanels, startedAt: now() };
      schedule.handle('panel', (due) => lookAtPanel(lost, due));
    },
  };
}
