/** A Mosquitto broker for tests, with its programs as clients. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { Output } from './server-process.ts';
import { missingPackage } from './skip-reason.ts';

const run = promisify(execFile);
const programs = ['mosquitto', 'mosquitto_pub', 'mosquitto_sub', 'mosquitto_passwd'];

/** Why there is no Mosquitto here; undefined when there is. */
export const missingMosquitto = () =>
  missingPackage('mosquitto mosquitto-clients', () => programs.every(isFound));
/** Not all of them end with success when asked for help. */
const isFound = (program: string) => spawnSync(program, ['-h'], { stdio: 'ignore' }).error === undefined;

/** Its user `belfry` has the password `se:cret`, and may do everything except publishing below `forbidden/`. */
export class Mosquitto {
  readonly port: number;
  readonly url: string;
  /** With TLS, by the name localhost and this certificate. */
  readonly tlsPort: number;
  /** Over WebSocket. */
  readonly webUrl: string;
  /** Over WebSocket with TLS, by the same name and certificate. */
  readonly secureWebPort: number;
  readonly certificate: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #output: Output | undefined;

  private constructor(
    [port, tlsPort, webPort, secureWebPort]: readonly [number, number, number, number],
    folder: string,
  ) {
    this.port = port;
    this.tlsPort = tlsPort;
    this.secureWebPort = secureWebPort;
    this.certificate = join(folder, 'tls.crt');
    this.url = `mqtt://belfry:se%3Acret@127.0.0.1:${port}`;
    this.webUrl = `ws://belfry:se%3Acret@127.0.0.1:${webPort}/mqtt`;
    this.#folder = folder;
  }

  static async start(): Promise<Mosquitto> {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-mosquitto-'));
    const broker = new Mosquitto(
      [await freePort(), await freePort(), await freePort(), await freePort()],
      folder,
    );
    const file = (name: string) => join(folder, name);
    spawnSync('mosquitto_passwd', ['-b', '-c', file('passwords'), 'belfry', 'se:cret']);
    writeFileSync(
      file('access'),
      'user belfry\ntopic readwrite #\ntopic read forbidden/#\ntopic deny forbidden/#\n',
    );
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    spawnSync('openssl', [
      'req',
      '-x509',
      ...curve,
      ...names,
      '-keyout',
      file('tls.key'),
      '-out',
      broker.certificate,
    ]);
    const lines = [
      `listener ${broker.port} 127.0.0.1`,
      `listener ${new URL(broker.webUrl).port} 127.0.0.1`,
      'protocol websockets',
      ...[broker.tlsPort, broker.secureWebPort].flatMap((each) => [
        `listener ${each} 127.0.0.1`,
        `certfile ${broker.certificate}`,
        `keyfile ${file('tls.key')}`,
      ]),
      'protocol websockets',
      'allow_anonymous false',
      `password_file ${file('passwords')}`,
      `acl_file ${file('access')}`,
      'persistence true',
      `persistence_location ${folder}/`,
      'log_dest stderr',
      ...(process.getuid?.() === 0 ? ['user root'] : []),
    ];
    writeFileSync(file('mosquitto.conf'), `${lines.join('\n')}\n`);
    await broker.begin();
    return broker;
  }

  async begin(): Promise<void> {
    this.#child = spawn('mosquitto', ['-v', '-c', join(this.#folder, 'mosquitto.conf')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#output = new Output(this.#child);
    await this.#output.match(/mosquitto version \S+ running/);
  }

  /** SIGTERM lets it store its sessions. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child?.kill(signal);
    await this.#output?.exited;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Its output since the start. */
  get log(): string {
    return this.#output?.text ?? '';
  }

  /** With QoS 1; resolves once the broker has it. */
  async publish(topic: string, payload: string | Buffer, ...args: string[]): Promise<void> {
    const sent = run('mosquitto_pub', [...this.#client, '-q', '1', '-t', topic, '-s', ...args]);
    sent.child.stdin?.end(payload);
    await sent;
  }

  /** Each line is a message. */
  async publishLines(topic: string, lines: readonly string[]): Promise<void> {
    const sent = run('mosquitto_pub', [...this.#client, '-q', '1', '-t', topic, '-l']);
    sent.child.stdin?.end(`${lines.join('\n')}\n`);
    await sent;
  }

  /** The lines of mosquitto_sub with a format, as in `%r %t %p`. */
  async subscribe(filter: string, format: string): Promise<{ readonly lines: () => string[]; stop(): void }> {
    const id = `sub-${crypto.randomUUID()}`;
    const child = spawn('mosquitto_sub', [...this.#client, '-i', id, '-q', '1', '-t', filter, '-F', format]);
    const output = new Output(child);
    await this.#output?.match(new RegExp(`Sending SUBACK to ${id}`));
    return {
      lines: () => output.stdout.split('\n').filter((line) => line !== ''),
      stop: () => child.kill(),
    };
  }

  get #client(): string[] {
    return ['-h', '127.0.0.1', '-p', String(this.port), '-u', 'belfry', '-P', 'se:cret'];
  }
}
