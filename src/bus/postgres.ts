import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Bus, TenantId } from '#core/ports.ts';
import { createInProcessBus } from './in-process.ts';

const channel = 'belfry_log';
/** Tenants named in one message: PostgreSQL takes 8,000 bytes. */
const mostInMessage = 400;
const reconnectMs = 1_000;
const connectMs = 3_000;

export interface PostgresBus extends Bus {
  /** Resolves once the bus listens, or has failed to for the first time. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/**
 * The bus of several nodes on one database, by LISTEN and NOTIFY. Followers on this node are woken at once and get the
 * entries; those on other nodes are woken without entries. While a message is on its way, what is published gathers for the
 * next. A connection that breaks is opened again; then everyone is woken once, as messages were lost.
 */
export function createPostgresBus(url: string, onError: (error: unknown) => void): PostgresBus {
  const node = randomUUID();
  const local = createInProcessBus(onError);
  /** Tenants that somebody on this node follows, and by how many. */
  const followed = new Map<TenantId, number>();
  let published = new Set<TenantId>();
  let isSending = false;
  let isClosed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  const send = async () => {
    if (isSending) return;
    isSending = true;
    while (published.size > 0 && client && !isClosed) {
      const tenants = [...published];
      published = new Set();
      try {
        for (let i = 0; i < tenants.length; i += mostInMessage) {
          const message = JSON.stringify([node, ...tenants.slice(i, i + mostInMessage)]);
          await client.query('SELECT pg_notify($1, $2)', [channel, message]);
        }
      } catch (error) {
        // Followers elsewhere read again by themselves.
        if (!isClosed) onError(error);
      }
    }
    isSending = false;
  };

  const receive = (payload = '[]') => {
    try {
      const [sender, ...tenants] = JSON.parse(payload) as [string, ...TenantId[]];
      if (sender !== node) for (const tenant of tenants) local.publish(tenant, []);
    } catch (error) {
      // Anybody who may connect to the database may send on the channel.
      onError(error);
    }
  };

  const reconnect = () => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => void connect(), reconnectMs);
    timer.unref();
  };

  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      application_name: 'belfry bus',
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    const lose = (error: Error) => {
      if (client !== next) return;
      client = undefined;
      onError(error);
      reconnect();
    };
    next.on('error', lose);
    next.on('end', () => lose(new Error('the connection of the bus has ended')));
    next.on('notification', ({ payload }) => receive(payload));
    try {
      await next.connect();
      await next.query(`LISTEN ${channel}`);
      if (isClosed) return await next.end();
      client = next;
      for (const tenant of followed.keys()) local.publish(tenant, []);
      void send();
    } catch (error) {
      void next.end().catch(() => undefined);
      if (isClosed) return;
      onError(error);
      reconnect();
    }
  };

  return {
    ready: connect(),
    publish(tenant, entries) {
      local.publish(tenant, entries);
      published.add(tenant);
      void send();
    },
    subscribe(tenant, listener) {
      followed.set(tenant, (followed.get(tenant) ?? 0) + 1);
      const stop = local.subscribe(tenant, listener);
      let isStopped = false;
      return () => {
        stop();
        if (isStopped) return;
        isStopped = true;
        const left = (followed.get(tenant) ?? 1) - 1;
        if (left > 0) followed.set(tenant, left);
        else followed.delete(tenant);
      };
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end();
    },
  };
}
