/** An Alertmanager for tests, with amtool as its client. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { Output } from './server-process.ts';
import { missingPackage, runs } from './skip-reason.ts';

const run = promisify(execFile);

/** Why there is no Alertmanager here; undefined when there is. */
export const missingAlertmanager = () =>
  missingPackage('prometheus-alertmanager', () => runs(['--version'], 'prometheus-alertmanager', 'amtool'));

/** An alert as its API has it. */
export interface TestAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly startsAt?: string;
  readonly endsAt: string;
  readonly fingerprint?: string;
  readonly generatorURL?: string;
}

export class Alertmanager {
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #output: Output | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** `webhook`: where it sends its alerts, but not their ends. Its addresses have the prefix `/am`. */
  static async start(webhook?: { readonly url: string; readonly token: string }): Promise<Alertmanager> {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-alertmanager-'));
    const sends =
      webhook &&
      `webhook_configs: [{send_resolved: false, url: '${webhook.url}', http_config: {authorization: {credentials: '${webhook.token}'}}}]`;
    writeFileSync(
      join(folder, 'alertmanager.yml'),
      `route: {receiver: all, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: all${sends ? `, ${sends}` : ''}}]
`,
    );
    const started = new Alertmanager(folder, await freePort());
    await started.begin();
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/am`;
  }

  async begin(): Promise<void> {
    const flags = [
      ...['--config.file=alertmanager.yml', '--storage.path=data', '--cluster.listen-address='],
      ...[`--web.listen-address=127.0.0.1:${this.#port}`, '--web.route-prefix=/am'],
    ];
    this.#child = spawn('prometheus-alertmanager', flags, {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#output = new Output(this.#child);
    await this.#output.match(/Listening on|msg=Listening/);
  }

  async end(): Promise<void> {
    this.#child?.kill('SIGTERM');
    await this.#output?.exited;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What amtool prints. */
  async amtool(...args: string[]): Promise<string> {
    return (await run('amtool', [`--alertmanager.url=${this.url}`, ...args])).stdout.trim();
  }

  /** The id of the silence. */
  silence(
    matchers: string | readonly string[],
    { author = 'Ann', comment = 'planned work', duration = '2h' } = {},
  ): Promise<string> {
    return this.amtool('silence', 'add', '-a', author, '-c', comment, '-d', duration, ...[matchers].flat());
  }

  /** As Prometheus sends alerts. */
  async post(...alerts: TestAlert[]): Promise<void> {
    const answer = await fetch(`${this.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(alerts),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  async alerts(): Promise<TestAlert[]> {
    return (await (await fetch(`${this.url}/api/v2/alerts`)).json()) as TestAlert[];
  }
}
