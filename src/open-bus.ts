import { createHash } from 'node:crypto';
import { createInProcessBus } from './bus/in-process.ts';
import type { NodeBusOptions } from './bus/node-bus.ts';
import type { Config } from './config.ts';
import type { Bus } from './core/bus.ts';
import type { Logger } from './log.ts';

/** Opens the bus that the settings choose, and loads only its transport. `key`: the same on all nodes of one database. */
export async function openBus(
  { bus, database }: Config,
  key: string,
  logger: Logger,
  onError: (error: unknown) => void,
): Promise<Bus> {
  if (bus === 'in-process' || database.kind === 'sqlite') return createInProcessBus(onError);
  const { NodeBus } = await import('./bus/node-bus.ts');
  const connect = bus === 'auto' ? await overPostgres(database.url) : await overNats(bus.urls, key);
  const onProblem = (problem: string | undefined) =>
    problem === undefined
      ? logger.info('the bus works again')
      : logger.warn(
          { problem },
          'the bus is interrupted: panels get what other nodes take up to two seconds later',
        );
  const nodeBus = new NodeBus({ connect, onProblem, onError });
  await nodeBus.ready;
  return nodeBus;
}

async function overPostgres(url: string): Promise<NodeBusOptions['connect']> {
  const { postgresTransport } = await import('./bus/postgres.ts');
  return postgresTransport(url);
}

/** The key keeps installations apart that use the same NATS. */
async function overNats(urls: readonly string[], key: string): Promise<NodeBusOptions['connect']> {
  const { natsTransport } = await import('./bus/nats.ts');
  const installation = createHash('sha256').update(`belfry bus ${key}`).digest('hex').slice(0, 16);
  return natsTransport(urls, `belfry.${installation}`);
}
