/** Alarms: the list, one alarm, how many are urgent, and what people do about them. */
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { isCode } from '#client/call.ts';
import type { AlarmAction, AlarmActionsDone, AlarmDetail, AlarmPage } from '#contract/history/alarm.ts';
import type { AlarmsTab, StandingState } from '#contract/history/alarm-states.ts';
import type { HistoryNotification, HistoryPage } from '#contract/history/notification.ts';
import { limits } from '#contract/limits.ts';
import { statesOf } from '../search-params.ts';
import { AlarmList } from './alarm-list.ts';
import { type TailState, useEventStream } from './event-stream.ts';
import { noteStale } from './query-client.ts';
import { type Tenant, useTenant } from './tenant.tsx';

const alarmPath = (id: string) => `/api/alarms/${encodeURIComponent(id)}`;

const readDetail = ({ api }: Tenant, id: string, signal?: AbortSignal) =>
  api.get<AlarmDetail>(alarmPath(id), undefined, signal);

export const alarmQuery = (tenant: Tenant, id: string) =>
  queryOptions({
    queryKey: [...tenant.key, 'alarms', id],
    queryFn: ({ signal }) => readDetail(tenant, id, signal),
    placeholderData: () => undefined,
    refetchInterval: ({ state }) => (isCode(state.error, 'not-found') ? false : 5_000),
  });

/** How many open alarms are errors or worse. Every page shows it; failures are not reported. */
export const urgentCountQuery = ({ api, key }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'alarms', 'urgent'],
    queryFn: async ({ signal }) => {
      const query = { q: 'level:>=error', state: 'open', limit: 1 };
      return (await api.get<AlarmPage>('/api/alarms', query, signal)).counts.open;
    },
    refetchInterval: 10_000,
    retry: false,
  });

/** As many as people clear at once in History. */
const clearedAtOnce = 1_000;

/** The newest notifications that a search finds and that have not ended, and whether there may be more of them. */
export const foundStandingQuery = ({ api, key }: Tenant, q: string) =>
  queryOptions({
    queryKey: [...key, 'found standing', q],
    queryFn: async ({ signal }) => {
      const standing = 'is:live,shelved,suppressed';
      const search = { q: q.trim() === '' ? standing : `(${q}) ${standing}`, limit: limits.historyPage };
      const ids: string[] = [];
      let cursor: string | undefined;
      // A page whose search ran out of time is short: the next one continues the search.
      do {
        const page: HistoryPage = await api.get('/api/history', { ...search, cursor }, signal);
        ids.push(...page.notifications.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && ids.length < clearedAtOnce);
      return { ids: ids.slice(0, clearedAtOnce), mayBeMore: cursor !== undefined };
    },
    // What the person was asked about is what is cleared.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });

/** The end of a display time is no event: the list is read again now and then. */
const renewMs = 30_000;
/** Changes within this time are read together. */
const gatherMs = 150;
/** The pause between two reads, as a multiple of how long a read takes. */
const pauseFactor = 5;

/** The list of a search in one tab, kept up to date. */
export function useAlarmList(
  q: string,
  tab: AlarmsTab,
): { readonly list: AlarmList; readonly tail: TailState } {
  const tenant = useTenant();
  const client = useQueryClient();
  const list = useMemo(
    () =>
      new AlarmList(
        (page) =>
          tenant.api.get<AlarmPage>('/api/alarms', {
            q: q || undefined,
            state: statesOf(tab).join(','),
            ...page,
          }),
        (id) =>
          readDetail(tenant, id).catch((error: unknown) => {
            if (isCode(error, 'not-found')) return undefined;
            throw error;
          }),
        tab === 'active',
      ),
    [tenant, q, tab],
  );
  const timer = useRef(0);
  const refreshSoon = () => {
    timer.current ||= window.setTimeout(
      () => {
        timer.current = 0;
        void list.refresh();
        void client.invalidateQueries({ queryKey: [...tenant.key, 'alarms'] });
      },
      Math.max(gatherMs, list.readAt + list.lastTookMs * pauseFactor - Date.now()),
    );
  };
  useEffect(() => {
    void list.refresh();
    const renewing = setInterval(
      () => document.visibilityState === 'visible' && void list.refresh(),
      renewMs,
    );
    const stopListening = list.subscribe(() =>
      noteStale(
        list,
        list.staleSince === undefined
          ? undefined
          : { readAt: list.staleSince, retry: () => void list.refresh() },
      ),
    );
    return () => {
      clearInterval(renewing);
      clearTimeout(timer.current);
      timer.current = 0;
      stopListening();
      noteStale(list, undefined);
    };
  }, [list]);
  const tail = useEventStream('/api/alarms/stream', {}, true, refreshSoon);
  return { list, tail };
}

/** What a person does: to alarms by their ids, or to all that match a search. */
export interface AlarmRequest {
  readonly action: AlarmAction;
  readonly ids?: readonly string[];
  readonly q?: string;
  readonly state?: readonly StandingState[];
  readonly note?: string;
  readonly untilMs?: number;
  /** Of `acknowledge`: 0, it does not end by itself. */
  readonly forMs?: number;
  readonly take?: boolean;
  /** Of `assign`: the owner; null: nobody. */
  readonly userId?: string | null;
}

/** Throws the server's error. What shows alarms or notifications is read again afterwards. */
export function useAlarmRequest(): (request: AlarmRequest) => Promise<AlarmActionsDone> {
  const tenant = useTenant();
  const client = useQueryClient();
  return async (request) => {
    try {
      return await tenant.api.post<AlarmActionsDone>('/api/alarms/actions', request);
    } finally {
      void client.invalidateQueries({ queryKey: [...tenant.key, 'alarms'] });
      void client.invalidateQueries({ queryKey: [...tenant.key, 'notification'] });
      for (const pages of tenant.lists.values()) void pages.renew();
    }
  };
}

/** Of so many that were received last, the one that was cleared last. */
const lookedAt = 50;

/** The notification that was cleared last; null when there is none. */
export const lastEndedQuery = ({ api, key }: Tenant) =>
  queryOptions({
    queryKey: [...key, 'alarms', 'last-ended'],
    queryFn: async ({ signal }) => {
      const { notifications } = await api.get<HistoryPage>(
        '/api/history',
        { q: 'is:cleared', limit: lookedAt },
        signal,
      );
      const ended = notifications.filter(({ cleared }) => cleared !== null);
      const clearedAt = (row: HistoryNotification) => row.cleared?.at ?? '';
      return ended.reduce<HistoryNotification | null>(
        (last, each) => (last === null || clearedAt(each) > clearedAt(last) ? each : last),
        null,
      );
    },
    retry: false,
  });
