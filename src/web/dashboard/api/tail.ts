/** What matches a search, as it arrives: for as long as it is wanted, over every break of the line. */
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '#client/api-error.ts';
import { backoffMs } from '#client/backoff.ts';
import { sseMessages } from '#client/sse-messages.ts';
import type { HistoryNotification } from '#contract/notification.ts';
import type { Api } from './call.ts';
import { useTenant } from './tenant.tsx';

export type TailState = 'off' | 'connecting' | 'live' | 'waiting' | 'refused';

export interface TailEvents {
  /** New ones, the oldest first. */
  onArrived(rows: readonly HistoryNotification[]): void;
  /** Something may have been missed: read the head again. Called at every beginning too. */
  onGap(): void;
}

/** The server says something at least each 15 s. */
const silenceMs = 37_500;
const connectMs = 15_000;
const backoff = { baseMs: 1_000, capMs: 30_000 };
/** When Belfry itself answers one of these, coming back cannot help: the search, the role or the sign-in is not valid. */
const finalStatuses = [400, 401, 403, 404];
/** What arrives within this time is drawn together. */
const gatherMs = 100;

/** Follows a search while `enabled`, and tells how the line is. */
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

async function follow(api: Api, q: string, signal: AbortSignal, events: FollowEvents): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    events.onState(attempt === 0 ? 'connecting' : 'waiting');
    try {
      await connection(api, q, signal, {
        ...events,
        onState(state) {
          attempt = 0;
          events.onState(state);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (isFinal(error)) return events.onState('refused');
    }
    if (!signal.aborted) events.onState('waiting');
    await pause(backoffMs(attempt, backoff), signal);
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.code !== undefined && finalStatuses.includes(error.status);

/** One connection, until it ends or breaks. */
async function connection(api: Api, q: string, signal: AbortSignal, events: FollowEvents): Promise<void> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  signal.addEventListener('abort', stop);
  let gathered: HistoryNotification[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hand = () => {
    timer = undefined;
    const rows = gathered;
    gathered = [];
    if (rows.length > 0 && !signal.aborted) events.onArrived(rows);
  };
  try {
    const body = await open(api, q, abort);
    for await (const { event, data } of sseMessages(body, {
      silenceMs: () => silenceMs,
      onRetry: () => undefined,
    })) {
      if (signal.aborted) return;
      if (event === 'ready') events.onState('live');
      if (event === 'ready' || event === 'gap') events.onGap();
      if (event !== 'notification') continue;
      gathered.push(JSON.parse(data) as HistoryNotification);
      timer ??= setTimeout(hand, gatherMs);
    }
  } finally {
    clearTimeout(timer);
    hand();
    signal.removeEventListener('abort', stop);
    abort.abort();
  }
}

/** Waits for the head of the answer alone: the body has no end. */
async function open(api: Api, q: string, abort: AbortController): Promise<ReadableStream<Uint8Array>> {
  const timer = setTimeout(() => abort.abort(), connectMs);
  try {
    const { body } = await api.open('/api/history/stream', { q: q || undefined }, abort.signal);
    if (!body) throw new ApiError(0, 'the answer has no body');
    return body;
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `ms`, at once when the page is back in touch or in sight, or when nobody waits any more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
