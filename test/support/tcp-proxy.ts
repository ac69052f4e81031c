/** A TCP proxy between two programs, which a test can interrupt. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly port: number;
  readonly #host: string;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** The target of new connections. */
  target: { readonly port: number; readonly host?: string };
  #isFrozen = false;
  #isCut = false;

  private constructor(
    server: Server,
    { host, port }: { host: string; port: number },
    target: TcpProxy['target'],
  ) {
    this.#server = server;
    this.target = target;
    this.port = port;
    this.#host = host;
  }

  static async start(target: TcpProxy['target'], host = '127.0.0.1'): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('the proxy has no port');
    const proxy = new TcpProxy(server, { host, port: address.port }, target);
    server.on('connection', (near) =>
      proxy.#join(near, connect(proxy.target.port, proxy.target.host ?? '127.0.0.1')),
    );
    return proxy;
  }

  /** The URL of the target, with the address of the proxy. */
  through(url: string): string {
    const through = new URL(url);
    through.hostname = this.#host;
    through.port = String(this.port);
    return through.href;
  }

  /** From now on no byte passes, without an error; new connections hang too. */
  freeze(): void {
    this.#isFrozen = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** The next answer on each open connection is dropped and breaks the connection; requests still arrive. */
  loseAnswers(): void {
    for (const [near, far] of this.#pairs) {
      far.unpipe(near);
      far.once('data', () => near.destroy());
      far.resume();
    }
  }

  /** Breaks every connection and refuses new ones. */
  cut(): void {
    this.#isCut = true;
    this.breakAll();
  }

  /** Breaks every connection; new ones may come. */
  breakAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  /** Ends {@link freeze} and {@link cut}; frozen connections continue. */
  mend(): void {
    this.#isCut = false;
    this.#isFrozen = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  async close(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    if (this.#isCut) {
      near.destroy();
      far.destroy();
      return;
    }
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.pipe(to);
      if (this.#isFrozen) from.pause();
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
    }
  }
}
