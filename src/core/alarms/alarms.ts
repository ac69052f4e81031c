/** Wiring of escalations, expectations and notifications of lost panels. */

import { AppError, unavailable } from '../errors.ts';
import type { Intake } from '../intake/intake.ts';
import { inTurns } from '../limits/concurrency.ts';
import type { Bus, History, TenantId } from '../log/log.ts';
import type { Tenancy } from '../tenants/tenancy.ts';
import type { Attention } from './attend.ts';
import { escalate, escalateAgain, escalateLater, findEscalating } from './escalations.ts';
import { type ExpectationContext, expectNext, raiseMissing } from './expectations.ts';
import { type LostPanelContext, lookAtPanel } from './lost-panels.ts';
import { type DueTimes, Schedule } from './schedule.ts';

interface AttentionOptions {
  readonly dueTimes: DueTimes;
  readonly history: Pick<History, 'find' | 'findLive' | 'clear' | 'acknowledge'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly isShared: boolean;
  readonly onError: (error: unknown) => void;
  /** Called when the tenant has the most of them allowed. */
  readonly onRefused: (tenant: TenantId, kind: 'expectation' | 'escalation') => void;
  /** Called the first time, and then once a minute while it continues. */
  readonly onFull: (tenant: TenantId, reason: string) => void;
}

export interface AttentionParts {
  readonly schedule: Schedule;
  readonly forIntake: Attention;
  /** Call it before the schedule starts. */
  handleWith(
    intake: Pick<Intake, 'raise' | 'findRaised'>,
    directory: Pick<LostPanelContext, 'panels' | 'presence' | 'usage'> &
      Pick<ExpectationContext, 'credentials'>,
  ): void;
}

const fullAgainMs = 60_000;
/** A notification whose turn comes later than this was refused in the meantime. */
const turnMs = 5_000;

export function createAttention(options: AttentionOptions): AttentionParts {
  const { history, bus, tenancy, now, monotonicNow } = options;
  const schedule = new Schedule(options);
  const fullSaidAt = new Map<string, number>();
  /** The notification is stored in any case. */
  const reportTooMany = (tenant: TenantId, kind: 'expectation' | 'escalation', error: unknown): void => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    options.onRefused(tenant, kind);
    const name = `${tenant} ${kind}`;
    if (monotonicNow() < (fullSaidAt.get(name) ?? Number.NEGATIVE_INFINITY) + fullAgainMs) return;
    fullSaidAt.set(name, monotonicNow());
    options.onFull(tenant, error.message);
  };
  /** Notifications of one key take turns, because each would have to start again when another one has changed the due time. */
  const inTurn = inTurns();
  return {
    schedule,
    forIntake: {
      expect: (sender, sourceIp, fields) =>
        expectNext({ schedule, tenancy }, { sender, sourceIp, fields }).then(
          () => undefined,
          (error: unknown) => {
            reportTooMany(sender.tenant, 'expectation', error);
            return `The notification is stored, but the next one is not expected: ${(error as Error).message}`;
          },
        ),
      escalate: (tenant, draft, escalation) => {
        const since = monotonicNow();
        return inTurn(`${tenant} ${draft.key ?? draft.id}`, async () => {
          if (monotonicNow() - since > turnMs)
            throw unavailable('not stored: its turn came too late; try again');
          return escalateLater({ schedule, history, now }, { tenant, draft, escalation });
        }).catch((error: unknown) => {
          reportTooMany(tenant, 'escalation', error);
          return undefined;
        });
      },
      escalateAgain: (tenant, key, replaced) => escalateAgain(schedule, { tenant, key, replaced }),
      findEscalating: (tenant, key) => findEscalating({ schedule, history, now }, tenant, key),
    },
    handleWith(intake, { credentials, ...ofPanels }) {
      const context = { schedule, intake, history, bus, now };
      schedule.handle('expectation', (due) => raiseMissing({ ...context, credentials }, due));
      schedule.handle('escalation', (due) => escalate({ ...context, tenancy }, due));
      const lost = { ...context, ...ofPanels, startedAt: now() };
      schedule.handle('panel', (due) => lookAtPanel(lost, due));
    },
  };
}
