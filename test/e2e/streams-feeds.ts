import { createInProcessBus } from '#bus/in-process.ts';
import { compileRules } from '#core/routing/rules.ts';
import { screenStreams } from '#core/streams/frames.ts';
import type { ConnectRequest } from '#core/streams/hub.ts';
import type { Sink } from '#core/streams/panel-stream.ts';
import { TenantStreams } from '#core/streams/tenant-streams.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import type { Tenancy, TenantSnapshot } from '#core/tenants/tenancy.ts';
import { ModelLog } from '../support/model-log.ts';

export const panel: PanelRecord = {
  id: 'p',
  name: 'P',
  kind: 'screen',
  topic: 'p',
  tags: [],
  location: null,
  display: {},
  createdAt: 0,
  lastSeenAt: null,
  client: null,
  address: null,
  cursor: null,
};
export const snapshot = {
  record: { id: 1, name: 't', title: 'T', timeZone: 'UTC' },
  levels: new Map(),
  panels: new Map([[panel.id, panel]]),
  router: compileRules({ revision: 0, rules: [] }, { levels: new Map() }),
} as unknown as TenantSnapshot;

/** A client that takes what it is sent at once, but for a chunk with `pausesAt` in it: that it takes when it resumes. */
export class Client implements Sink {
  text = '';
  pausesAt: string | undefined;
  isDestroyed = false;
  #onFlushed: (() => void) | undefined;

  write(chunk: Buffer | string, onFlushed: () => void): void {
    this.text += chunk.toString();
    if (this.pausesAt !== undefined && chunk.includes(this.pausesAt)) this.#onFlushed = onFlushed;
    else setImmediate(onFlushed);
  }

  resume(): void {
    this.#onFlushed?.();
  }

  end(): void {}

  destroy(): void {
    this.isDestroyed = true;
  }

  /** What it received, as "event position"; without heartbeats, which come as time goes. */
  events(): string[] {
    return [...this.text.matchAll(/^event: (?!heartbeat)(.*)\ndata: (.*)$/gm)].map(([, event, json]) => {
      const { resume, position, head } = JSON.parse(json as string);
      return `${event} ${resume ?? position ?? head}`;
    });
  }
}

/** A screen that goes on after a position, or begins. */
export const opening = (position?: number): ConnectRequest => ({
  from: position === undefined ? undefined : { epoch: 'e1', position },
  kind: screenStreams,
  screen: { client: null, address: null },
});

/** TenantStreams over a plain list for a log, which looks after its streams every 10 ms. */
export function newFeeds() {
  const log = new ModelLog();
  const errors: unknown[] = [];
  const bus = createInProcessBus((error) => errors.push(error));
  let change = () => {};
  const onChange: Tenancy['onChange'] = (heard) => {
    change = () => heard(1);
    return () => undefined;
  };
  const tenantStreams = new TenantStreams({
    history: log,
    bus,
    tenancy: { onChange, peek: () => snapshot } as unknown as Tenancy,
    epoch: 'e1',
    now: Date.now,
    monotonicNow: () => performance.now(),
    heartbeatMs: 20,
    onError: (error) => errors.push(error),
    onSent: () => undefined,
    onContact: () => undefined,
  });
  return { log, bus, tenantStreams, errors, change: () => change() };
}
