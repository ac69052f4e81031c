/** Live results of a search, over reconnects. */
import { useEffect, useRef, useState } from 'react';
import { type Connection, eventStream } from '#client/event-stream.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import type { Api } from './call.ts';
import { useTenant } from './tenant.tsx';

export type TailState = 'off' | 'connecting' | 'live' | 'waiting' | 'refused';

export interface TailEvents {
  /** New ones, the oldest first. */
  onArrived(rows: readonly HistoryNotification[]): void;
  /** Something may have been missed: read the head again. Called at every beginning too. */
  onGap(): void;
}

/** Reconnecting cannot help after one of these: the search, the role or the sign-in is not valid. */
const finalStatuses = [400, 401, 403, 404];
/** What arrives within this time is drawn together. */
const gatherMs = 100;

/** Follows a search while `enabled`, and returns the state of the connection. */
export function useTail(q: string, enabled: boolean, events: TailEvents): TailState {
  const { api } = useTenant();
  const latest = useRef(events);
  latest.current = events;
  const [state, setState] = useState<TailState>('off');
  useEffect(() => {
    if (!enabled) {
      setState('off');
      return;
    }
    const abort = new AbortController();
    void follow(api, q, abort.signal, {
      onArrived: (rows) => latest.current.onArrived(rows),
      onGap: () => latest.current.onGap(),
      onState: setState,
    });
    return () => abort.abort();
  }, [api, q, enabled]);
  return state;
}

type FollowEvents = TailEvents & { onState(state: TailState): void };

/** Follows the search over reconnects until `signal` aborts or the server refuses it. */
async function follow(api: Api, q: string, signal: AbortSignal, events: FollowEvents): Promise<void> {
  let gathered: HistoryNotification[] = [];
  const deliver = () => {
    if (!signal.aborted) events.onArrived(gathered);
    gathered = [];
  };
  // The tail does not resume: after a gap the head of history is read again.
  const open = (_: unknown, limited: AbortSignal) =>
    api.open('/api/history/stream', { q: q || undefined }, limited);
  const onConnection = ({ state }: Connection) => {
    if (state !== 'connecting') events.onState(state === 'online' ? 'live' : 'waiting');
  };
  events.onState('connecting');
  try {
    for await (const { type, data } of eventStream(open, finalStatuses, {
      signal,
      onConnection,
      wait: pause,
    })) {
      if (type === 'ready' || type === 'gap') events.onGap();
      if (type !== 'notification') continue;
      if (gathered.push(data as HistoryNotification) === 1) setTimeout(deliver, gatherMs);
    }
  } catch {
    events.onState('refused');
  }
}

/** Resolves after `ms`, or earlier when the browser is online again or `signal` aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}
