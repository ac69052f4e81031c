import { standingStates } from '#contract/history/alarm-states.ts';
import type { DueTimes } from '#core/alarms/schedule.ts';
import type { DeliveryQueue } from '#core/channels/channels.ts';
import type { AlarmPlace } from '#core/log/alarm-places.ts';
import type {
  Acknowledged,
  AlarmOutcome,
  AppendOutcome,
  Entry,
  History,
  LiveNotification,
  Notification,
  NotificationDraft,
} from '#core/log/log.ts';
import type { ReceiptStore } from '#core/log/receipts.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Statistics } from '#core/log/statistics.ts';
import type { PanelAddress, Target } from '#core/log/target.ts';
import type { Directory } from '#core/tenants/directory.ts';
import { draft as anyDraft } from '#test/support/notification-draft.ts';

/** A backend opened on an empty database. */
export interface HistoryDatabase {
  readonly history: History;
  readonly statistics: Statistics;
  readonly receipts: ReceiptStore;
  readonly directory: Directory;
  readonly dueTimes: DueTimes;
  readonly deliveries: DeliveryQueue;
  /** How many nodes may use it at once, in the tests. */
  readonly nodes: 1 | 2;
  /** Takes expired notifications out of the live set, as the server does now and then. */
  sweep(now: number): Promise<number>;
  /** Closes it and opens the same data anew. */
  reopen(): Promise<HistoryDatabase>;
  close(): Promise<void>;
}

export interface HistoryOptions {
  /** Notifications that may wait for the disk before more are refused. */
  readonly queueCapacity?: number;
}

export type OpenHistory = (options?: HistoryOptions) => Promise<HistoryDatabase>;

/** What the suites work with. Every test makes tenants of its own, so that tests share one database and never meet. */
export interface HistoryLab {
  readonly database: HistoryDatabase;
  readonly open: OpenHistory;
  newTenant(): Promise<TenantId>;
}

let tenants = 0;
export async function newTenant({ directory }: HistoryDatabase): Promise<TenantId> {
  tenants += 1;
  return (await directory.tenants.create(`tenant-${tenants}`, 'A tenant', 'test', 1)).id;
}

/** When the tests take place. */
export const now = Date.UTC(2026, 10, 2, 12);

export const toTarget = (target: Partial<Target>): Target => ({ all: false, ids: [], tags: [], ...target });
export const everyone = toTarget({ all: true });
export const lobby: PanelAddress = { id: 'lobby', tags: ['front'] };

/** As {@link anyDraft}, at the time of the tests. */
export const draft = (over: Partial<NotificationDraft> = {}): NotificationDraft =>
  anyDraft({ receivedAt: now, title: 'Disk is full', message: 'on db-01', ...over });

/** Stores one and answers its entry. */
export async function store(
  history: History,
  tenant: TenantId,
  over: Partial<NotificationDraft> = {},
): Promise<Notification> {
  const entry = stored(await history.append(tenant, draft(over), null)).at(-1);
  if (entry?.kind !== 'notification') throw new Error('the last entry is no notification');
  return entry;
}

/** The entries of an outcome that must be `stored`. */
export function stored(outcome: AppendOutcome): readonly Entry[] {
  if (outcome.kind !== 'stored') throw new Error(`not stored but ${outcome.kind}`);
  return outcome.entries;
}

/** Says that somebody has seen a notification. Only the first time counts. */
export async function acknowledge(
  history: History,
  tenant: TenantId,
  id: string,
  given: Acknowledged,
): Promise<AlarmOutcome> {
  const [outcome] = await history.act(tenant, [id], { kind: 'acknowledge', ...given });
  return outcome as AlarmOutcome;
}

/** The whole log, read in pages of `limit`. */
export async function readAll(history: History, tenant: TenantId, limit = 100): Promise<Entry[]> {
  const entries: Entry[] = [];
  let position = (await history.bounds(tenant)).first - 1;
  for (;;) {
    const page = await history.readAfter(tenant, position, limit);
    if (page.entries.length === 0) return entries;
    entries.push(...page.entries);
    position = page.entries.at(-1)?.position ?? position;
  }
}

/** What a panel should be showing, in order of position, read a few at a time. */
export async function liveOn(
  history: History,
  tenant: TenantId,
  { panel = lobby, at = now, limit = 500 }: { panel?: PanelAddress; at?: number; limit?: number } = {},
): Promise<LiveNotification[]> {
  const { positions: live } = await history.live(tenant, panel, at, limit);
  let positions = live.map(({ position }) => position).sort((a, b) => a - b);
  const all: LiveNotification[] = [];
  while (positions.length > 0) {
    const { notifications, scanned } = await history.readLive(tenant, positions, at, 10);
    all.push(...notifications);
    positions = positions.slice(scanned);
  }
  return all;
}

/** What a panel should be showing, by id. */
export async function shownOn(
  history: History,
  tenant: TenantId,
  panel = lobby,
  at = now,
): Promise<string[]> {
  return (await liveOn(history, tenant, { panel, at })).map(({ id }) => id);
}

/** All alarms that stand at `at`. */
export async function alarmsAt(
  history: History,
  tenant: TenantId,
  at: number,
): Promise<readonly AlarmPlace[]> {
  return (await history.alarms(tenant, { now: at, states: standingStates, limit: 1_000 })).places;
}
