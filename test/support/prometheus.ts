/** Prometheus and Alertmanager, which watch a metric of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteOutput } from './failure-notes.ts';
import { freePort } from './free-port.ts';
import { missingPackage, runs } from './skip-reason.ts';

const programs = ['prometheus', 'prometheus-alertmanager', 'amtool', 'promtool'];

/** Why there is no Prometheus with Alertmanager here; undefined when there is. */
export const missingPrometheus = () =>
  missingPackage('prometheus prometheus-alertmanager', () => runs(['--version'], ...programs));

export interface Monitoring {
  /** Sets the metric of a host; above 90 its alert fires. */
  set(host: string, percent: number): void;
  stop(): Promise<void>;
}

const rules = `groups:
  - name: disks
    interval: 1s
    rules:
      - alert: DiskFull
        expr: disk_used_percent > 90
        labels: {severity: critical}
        annotations:
          summary: 'Disk of {{ $labels.instance }} almost full'
          description: 'at {{ $value }} %'
`;

const prometheusConfig = (
  figures: number,
  alertmanager: number,
) => `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
alerting:
  alertmanagers:
    - static_configs: [{targets: ['127.0.0.1:${alertmanager}']}]
scrape_configs:
  - job_name: disks
    honor_labels: true
    static_configs: [{targets: ['127.0.0.1:${figures}']}]
`;

/** `receivers`: the receivers of alertmanager.yml, of which alerts go to the one named belfry. */
export async function startMonitoring(receivers: string): Promise<Monitoring> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-prometheus-'));
  const figures = new Map<string, number>();
  const source = createServer((_request, response) => {
    const lines = [...figures].map(([host, percent]) => `disk_used_percent{instance="${host}"} ${percent}\n`);
    response.end(lines.join(''));
  });
  const sourcePort = await listen(source);
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()];
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('rules.yml', rules);
  write('prometheus.yml', prometheusConfig(sourcePort, alertmanagerPort));
  write(
    'alertmanager.yml',
    `route: {receiver: belfry, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}\n${receivers}`,
  );
  const running = [
    start(folder, 'prometheus-alertmanager', [
      '--config.file=alertmanager.yml',
      '--storage.path=alertmanager',
      '--cluster.listen-address=',
      `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
    ]),
    start(folder, 'prometheus', [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=prometheus',
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ]),
  ];
  return {
    set: (host, percent) => void figures.set(host, percent),
    async stop() {
      await Promise.all(running.map(end));
      source.closeAllConnections();
      source.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
}

function start(folder: string, program: string, flags: readonly string[]): ChildProcess {
  const started = spawn(program, flags, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const note = noteOutput(program);
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => note(String(chunk)));
  return started;
}

function end(started: ChildProcess): Promise<void> {
  if (started.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    started.once('exit', () => resolve());
    started.kill('SIGTERM');
  });
}
