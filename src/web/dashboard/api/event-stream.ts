/** A stream of the server for as long as a component is drawn, over reconnects. */
import { useEffect, useRef, useState } from 'react';
import { type Connection, eventStream } from '#client/event-stream.ts';
import type { Api, Query } from './call.ts';
import { useTenant } from './tenant.tsx';

export type TailState = 'off' | 'connecting' | 'live' | 'waiting' | 'refused';

type OnEvent = (type: string, data: unknown) => void;

/** Reconnecting cannot help after one of these: the search, the role or the sign-in is not valid. */
const finalStatuses = [400, 401, 403, 404];

/** Follows a stream while `enabled`, and returns the state of the connection. It does not resume: each connection begins with `ready`. */
export function useEventStream(
  path: string,
  { q }: { q?: string },
  enabled: boolean,
  onEvent: OnEvent,
): TailState {
  const { api } = useTenant();
  const latest = useRef(onEvent);
  latest.current = onEvent;
  const [state, setState] = useState<TailState>('off');
  useEffect(() => {
    if (!enabled) {
      setState('off');
      return;
    }
    const abort = new AbortController();
    void follow(api, [path, { q: q || undefined }], {
      signal: abort.signal,
      onEvent: (type, data) => latest.current(type, data),
      onState: setState,
    });
    return () => abort.abort();
  }, [api, path, q, enabled]);
  return state;
}

async function follow(
  api: Api,
  [path, query]: readonly [string, Query],
  events: { readonly signal: AbortSignal; onEvent: OnEvent; onState(state: TailState): void },
): Promise<void> {
  const { signal } = events;
  const open = (_: unknown, limited: AbortSignal) => api.open(path, query, limited);
  const onConnection = ({ state }: Connection) => {
    if (state !== 'connecting') events.onState(state === 'online' ? 'live' : 'waiting');
  };
  events.onState('connecting');
  try {
    const stream = eventStream(open, finalStatuses, { signal, onConnection, wait: pause });
    for await (const { type, data } of stream) events.onEvent(type, data);
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
