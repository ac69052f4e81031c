import type { ChannelService } from '../channels/channels.ts';
import type { Bus } from './bus.ts';
import type { ClearOutcome, History, HistoryRecord } from './log.ts';
import type { TenantId } from './route.ts';

export interface TakeOffContext {
  readonly history: Pick<History, 'clear' | 'find' | 'findLive'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly channels: Pick<ChannelService, 'wake'>;
  readonly now: () => number;
}

/** The most replacements that are followed to find what stands now. After that, it is what panels show of the key. */
const maxFollowed = 100;

/** Takes a notification off its panels. `by`: the person, key or token that does it. */
export async function takeOff(
  {
    history,
    bus,
    channels,
    now,
  }: Pick<TakeOffContext, 'bus' | 'channels' | 'now'> & { readonly history: Pick<History, 'clear'> },
  tenant: TenantId,
  id: string,
  by: string,
): Promise<ClearOutcome> {
  const outcome = await history.clear(tenant, id, by, now());
  if (outcome.kind === 'cleared') {
    bus.publish(tenant, [outcome.entry]);
    channels.wake(tenant);
  }
  return outcome;
}

export const isEscalation = ({ route }: HistoryRecord): boolean => route.escalates !== undefined;

/**
 * The notification that stands in the place of this one: itself, or the last of those that replaced it, if that is on panels.
 * `isSame` ends the search at a replacement that is something else.
 */
async function findStanding(
  { history, now }: Pick<TakeOffContext, 'now'> & { readonly history: Pick<History, 'find' | 'findLive'> },
  tenant: TenantId,
  id: string,
  isSame: (replacement: HistoryRecord) => boolean = () => true,
): Promise<string> {
  let record = await history.find(tenant, id);
  for (let i = 0; record?.cleared?.reason === 'replaced'; i++) {
    const by: string | undefined =
      i < maxFollowed || record.key === null
        ? record.cleared.by
        : await history.findLive(tenant, record.key, now());
    const next = by === undefined ? undefined : await history.find(tenant, by);
    if (!next || !isSame(next)) break;
    record = next;
  }
  const isLive = record?.cleared === null && (record.expiresAt === null || record.expiresAt > now());
  return record && isLive ? record.id : id;
}

/** How often a call follows a notification that is replaced at the same moment. */
const mostTries = 8;

/** As {@link takeOff}, of what stands in its place. `id` of the result: the one to which it applied. */
export async function takeOffStanding(
  context: TakeOffContext,
  tenant: TenantId,
  id: string,
  by: string,
  isSame?: (replacement: HistoryRecord) => boolean,
): Promise<ClearOutcome & { readonly id: string }> {
  let standing = await findStanding(context, tenant, id, isSame);
  for (let tries = 1; ; tries++) {
    const outcome = await takeOff(context, tenant, standing, by);
    if (outcome.kind !== 'not-live' || tries === mostTries) return { ...outcome, id: standing };
    // It may have been replaced in the meantime.
    const next = await findStanding(context, tenant, standing, isSame);
    if (next === standing) return { ...outcome, id: standing };
    standing = next;
  }
}
