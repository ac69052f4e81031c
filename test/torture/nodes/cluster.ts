/** Several nodes on one PostgreSQL behind HAProxy, with senders and panels that go on whatever happens to them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStorage } from '#server/app.ts';
import { createLogger } from '#server/log.ts';
import { readConfig } from '#settings/config.ts';
import { eventually } from '#test/support/eventually.ts';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { limitMs } from '#test/support/patience.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { addCredential } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { type Balancer, startHaproxy } from './haproxy.ts';

export interface ClusterOptions {
  /** Of the database, for each node; the first is also the one that is checked. */
  readonly urls: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Panels by way of HAProxy; three when not given. */
  readonly panels?: number;
}

export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'belfry-cluster-'));
  readonly nodes: ServerProcess[] = [];
  readonly token: string;
  readonly key: string;
  readonly load: Load;
  readonly #options: ClusterOptions;
  #balancer: Balancer | undefined;
  readonly #panels: { readonly panel: ResumingPanel; readonly keeping: Promise<void> }[] = [];
  #isStopped = false;

  private constructor(options: ClusterOptions, token: string, key: string) {
    this.#options = options;
    this.token = token;
    this.key = key;
    this.load = new Load({ token, writers: 6, pauseMs: 10, goesOn: true });
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const [url = ''] = options.urls;
    const cluster = await Cluster.#prepare(options, url);
    for (const each of options.urls) cluster.nodes.push(await cluster.#startNode(each));
    cluster.#balancer = await startHaproxy(cluster.nodes.map(({ port }) => port));
    for (let i = 0; i < (options.panels ?? 3); i++)
      await cluster.addPanel(`wall ${i}`, cluster.#balancer.url);
    cluster.goOn();
    return cluster;
  }

  static async #prepare(options: ClusterOptions, url: string): Promise<Cluster> {
    const config = readConfig({ BELFRY_DATABASE_URL: url });
    const { directory, close } = await openStorage(
      config,
      createLogger({ level: 'silent', format: 'json' }),
      'command',
    );
    try {
      const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
      const token = await addCredential(directory, 'token', tenant, { scopes: ['notify', 'panel'] });
      return new Cluster(options, token, await addCredential(directory, 'key', tenant, { role: 'admin' }));
    } finally {
      await close();
    }
  }

  /** A panel that connects again whenever its stream ends; answers it once it is connected. */
  async addPanel(name: string, url: string): Promise<ResumingPanel> {
    const panel = new ResumingPanel(name);
    await panel.connect(url, this.token);
    const keep = async () => {
      while (!this.#isStopped) {
        await panel.ended;
        if (this.#isStopped) return;
        await sleep(50);
        await panel.connect(url, this.token).catch(() => undefined);
      }
    };
    this.#panels.push({ panel, keeping: keep() });
    return panel;
  }

  /** Starts the senders. */
  goOn(): void {
    this.load.start(this.#balancer?.url ?? '');
  }

  /** Kills a node and starts it again on its port. */
  async killNode(i: number): Promise<void> {
    const { port } = this.nodes[i] as ServerProcess;
    await (this.nodes[i] as ServerProcess).end('SIGKILL');
    await sleep(200);
    this.nodes[i] = await this.#startNode(this.#options.urls[i] as string, port);
  }

  /** Resolves once senders are answered 200 again, and how long that took, in ms. */
  async answersAgain(): Promise<number> {
    const began = performance.now();
    const acknowledged = this.load.acknowledged;
    while (this.load.acknowledged < acknowledged + 10) {
      if (performance.now() - began > limitMs(10_000))
        throw new Error(`senders are not answered again: ${JSON.stringify([...this.load.statuses])}`);
      await sleep(10);
    }
    return performance.now() - began;
  }

  /** Ends the load, waits for the panels, and checks everything. Returns the problems, one line each. */
  async check(): Promise<{ readonly problems: readonly string[]; readonly acknowledged: number }> {
    await this.load.stop();
    // Another node may have been the first to reach the database again.
    const history = await eventually(() => readHistory((this.nodes[0] as ServerProcess).url, this.key));
    for (const { panel } of this.#panels) {
      // Where it does not get there, its log says so.
      await panel.reached(history.length).catch(() => undefined);
    }
    const logs = this.#panels.map(({ panel }) => panel.log(history.length));
    return {
      problems: problemsOf(checkHistory(this.load.sent, history, logs)),
      acknowledged: this.load.acknowledged,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.load.stop();
    for (const { panel } of this.#panels) panel.close();
    await Promise.all(this.nodes.map((node) => node.end('SIGKILL')));
    await this.#balancer?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #startNode(url: string, port = 0): Promise<ServerProcess> {
    const env = {
      BELFRY_DATABASE_URL: url,
      BELFRY_KEY_FILE: join(this.folder, 'belfry.key'),
      BELFRY_HEARTBEAT_MS: '1000',
      ...this.#options.env,
    };
    return ServerProcess.start({ folder: this.folder, port, env });
  }
}
