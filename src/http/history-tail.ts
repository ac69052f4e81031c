import { encodeSse } from '../contract/sse.ts';
import { iso } from '../core/frames.ts';
import { historyView } from '../core/history-view.ts';
import type { Sink } from '../core/panel-stream.ts';
import type { HistoryRecord, TenantId } from '../core/ports.ts';
import { queryOf } from './history-query.ts';
import type { Services } from './services.ts';

/** New notifications are gathered for this long, so that a busy tenant costs a tail a few reads a second. */
const gatherMs = 200;
const heartbeatMs = 15_000;
/** The floor for a bell that was not heard. */
const floorMs = 2_000;
const pageLimit = 200;

export interface HistoryTail {
  readonly started: Promise<void>;
  close(): void;
}

/**
 * Sends what matches as it arrives. The search itself is asked for what is newer than the last answer, so a tail finds
 * exactly what the page finds. A reader that does not take one batch gets no second one until it has.
 */
export function tailHistory(
  services: Services,
  tenant: TenantId,
  q: string | undefined,
  sink: Sink,
): HistoryTail {
  const { history, bus, tenancy, now } = services;
  let after = 0;
  let rung = false;
  let reading = false;
  // Until `ready` is written there is no place to read from.
  let writing = true;
  let closed = false;
  let lastWrite = now();

  const write = (text: string) => {
    writing = true;
    lastWrite = now();
    sink.write(text, () => {
      writing = false;
      if (rung) ring();
    });
  };

  const newer = async (): Promise<HistoryRecord[]> => {
    const query = await queryOf(services, tenant, q);
    const found: HistoryRecord[] = [];
    let before: number | undefined;
    let head = after;
    do {
      const page = await history.search(tenant, query, {
        limit: pageLimit,
        now: now(),
        after,
        ...(before !== undefined && { before }),
      });
      if (before === undefined) head = page.head;
      found.push(...page.records);
      before = page.next ?? undefined;
      // A tail that fell this far behind shows the newest; the page has the rest.
    } while (before !== undefined && found.length < 5 * pageLimit);
    after = Math.max(after, head);
    return found.reverse();
  };

  const read = async () => {
    if (reading || writing || closed || !rung) return;
    reading = true;
    rung = false;
    try {
      const records = await newer();
      const snapshot = await tenancy.get(tenant);
      const at = now();
      const text = records
        .map((record) => encodeSse({ event: 'notification', data: historyView(record, snapshot, at) }))
        .join('');
      if (text !== '' && !closed) write(text);
      else if (at - lastWrite >= heartbeatMs && !closed)
        write(encodeSse({ event: 'heartbeat', data: { serverTime: iso(at), head: after } }));
    } catch {
      // A query whose panel or level has meanwhile been deleted, or a disk that is gone: the reader asks again.
      closed = true;
      sink.end();
    } finally {
      reading = false;
      if (rung) ring();
    }
  };

  let gathering: NodeJS.Timeout | undefined;
  const ring = () => {
    rung = true;
    if (gathering || closed) return;
    gathering = setTimeout(() => {
      gathering = undefined;
      void read();
    }, gatherMs).unref();
  };

  const unsubscribe = bus.subscribe(tenant, ring);
  const floor = setInterval(ring, floorMs).unref();
  const started = history.bounds(tenant).then(({ head }) => {
    after = head;
    write(encodeSse({ event: 'ready', data: { serverTime: iso(now()), head }, retryMs: 3_000 }));
    ring();
  });
  return {
    started,
    close() {
      closed = true;
      unsubscribe();
      clearInterval(floor);
      clearTimeout(gathering);
    },
  };
}
