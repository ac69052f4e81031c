import type { NotificationDetail } from '#contract/notification-detail.ts';

/** How far a notification has come. */
export interface Arrival {
  readonly panelCount: number;
  /** The panels that said they show it, and how long after it was received. */
  readonly shown: readonly { readonly name: string; readonly afterMs: number }[];
}

export function readArrival({
  panelCount,
  receivedAt,
  deliveries,
}: Pick<NotificationDetail, 'panelCount' | 'receivedAt' | 'deliveries'>): Arrival {
  const received = new Date(receivedAt).getTime();
  const shown = deliveries.flatMap(({ panel, shownAt }) =>
    shownAt === null
      ? []
      : [{ name: panel.name, afterMs: Math.max(0, new Date(shownAt).getTime() - received) }],
  );
  return { panelCount, shown };
}
