import type { Bus } from '../bus.ts';
import type { ClearOutcome, History, Ref, TenantId } from '../ports.ts';

export interface TakeOffContext {
  readonly history: Pick<History, 'clear'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly now: () => number;
}

/** Takes a notification off its panels. `by`: the person, key or token that does it, or the notification that replaces it. */
export async function takeOff(
  { history, bus, now }: TakeOffContext,
  tenant: TenantId,
  id: string,
  by: string | Pick<Ref, 'id'>,
): Promise<ClearOutcome> {
  const outcome = await history.clear(tenant, id, by, now());
  if (outcome.kind === 'cleared') bus.publish(tenant, [outcome.entry]);
  return outcome;
}
