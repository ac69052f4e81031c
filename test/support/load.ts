/** Senders over keep-alive HTTP that record what they sent, for the history checker. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Sent } from './history-checker.ts';

interface Attempt {
  readonly name: string;
  readonly sentAt: number;
  acknowledgedAt: number | null;
  id: string | null;
}

export interface LoadOptions {
  readonly token: string;
  readonly writers: number;
  /** Pause of each writer between an answer and its next request; none by default. */
  readonly pauseMs?: number;
  /** The rate of all writers together, instead of a pause. A writer that is late sends without pause until it has caught up. */
  readonly perSecond?: number;
  /** A writer whose connection fails goes on with a new one, as behind a balancer; without it, it ends. */
  readonly goesOn?: boolean;
  /** The prefix of the writers' names; `w` by default. */
  readonly prefix?: string;
  /** How long each is shown; by default until it is cleared. */
  readonly ttlMs?: number;
  /** The length of each message. */
  readonly messageChars?: number;
}

/** The result of a request (status 0: the connection failed). */
export interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly at: number;
}

interface Writer {
  readonly name: string;
  /** Whether it repeats a notification until it is acknowledged. */
  readonly persists: boolean;
  n: number;
  open?: Attempt;
}

interface Run {
  stopped: boolean;
  ended: Promise<unknown>;
}

/**
 * Writers that send notifications named `<writer>-<n>`, one after the other. Every second writer repeats a notification with the
 * same Idempotency-Key until it is acknowledged; the others continue with the next one.
 */
export class Load {
  /** Counts of answers by status, over all runs. */
  readonly statuses = new Map<number, number>();
  readonly #options: LoadOptions;
  readonly #attempts: Attempt[] = [];
  readonly #writers: readonly Writer[];
  readonly #listeners = new Set<(outcome: Outcome) => void>();
  #run: Run | undefined;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#writers = Array.from({ length: options.writers }, (_, i) => ({
      name: `${options.prefix ?? 'w'}${i}`,
      persists: i % 2 === 0,
      n: 0,
    }));
  }

  /** Everything sent so far. */
  get sent(): readonly Sent[] {
    return this.#attempts;
  }

  get acknowledged(): number {
    return this.statuses.get(200) ?? 0;
  }

  /** Starts all writers. Each runs until `stop`, or, when not told to go on, until its connection fails. */
  start(url: string): void {
    const run: Run = { stopped: false, ended: Promise.resolve() };
    run.ended = Promise.all(this.#writers.map((writer) => this.#write(writer, url, run)));
    this.#run = run;
  }

  /** Resolves when every writer has ended because its connection failed. */
  async ended(): Promise<void> {
    await this.#run?.ended;
  }

  /** Lets requests under way finish, then starts no more. */
  async stop(): Promise<void> {
    if (this.#run) this.#run.stopped = true;
    await this.ended();
  }

  /** Resolves with the next outcome for which `is` holds; rejects after `ms`. */
  next(is: (outcome: Outcome) => boolean, ms: number): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const listener = (outcome: Outcome) => {
        if (!is(outcome)) return;
        clearTimeout(timer);
        this.#listeners.delete(listener);
        resolve(outcome);
      };
      const timer = setTimeout(() => {
        this.#listeners.delete(listener);
        reject(new Error(`no such answer within ${ms} ms; so far ${JSON.stringify([...this.statuses])}`));
      }, ms);
      this.#listeners.add(listener);
    });
  }

  async #write(writer: Writer, url: string, run: Run): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const rest = this.#restBetween();
    try {
      while (!run.stopped) {
        const attempt = this.#next(writer);
        const outcome = await send(url, this.#options, attempt.name, agent);
        this.statuses.set(outcome.status, (this.statuses.get(outcome.status) ?? 0) + 1);
        if (outcome.status === 200) {
          attempt.acknowledgedAt = outcome.at;
          attempt.id = (JSON.parse(outcome.text) as { id: string }).id;
          delete writer.open;
        }
        for (const listener of this.#listeners) listener(outcome);
        if (outcome.status === 0 && !this.#options.goesOn) return;
        await rest();
      }
    } finally {
      agent.destroy();
    }
  }

  /** Returns the pause of a writer between an answer and its next request. */
  #restBetween(): () => Promise<void> {
    const { pauseMs, perSecond, writers } = this.#options;
    if (perSecond === undefined) return () => (pauseMs === undefined ? Promise.resolve() : pause(pauseMs));
    let due = performance.now();
    return async () => {
      due += (1_000 * writers) / perSecond;
      const early = due - performance.now();
      if (early > 0) await pause(early);
    };
  }

  #next(writer: Writer): Attempt {
    if (writer.open && writer.persists) return writer.open;
    writer.n += 1;
    const name = `${writer.name}-${writer.n}`;
    const attempt: Attempt = { name, sentAt: performance.now(), acknowledgedAt: null, id: null };
    this.#attempts.push(attempt);
    writer.open = attempt;
    return attempt;
  }
}

/** The text of a notification's message ends its name, so that one name is never the start of another's. */
export const markOf = (name: string) => `<${name}>`;

/** One notification that stays on panels until cleared. Never rejects. */
function send(
  url: string,
  { token, messageChars = 0, ttlMs = 0 }: LoadOptions,
  name: string,
  agent: Agent,
): Promise<Outcome> {
  const message = `sent as ${markOf(name)}`.padEnd(messageChars, '.');
  const body = JSON.stringify({ title: name, message, ttl: ttlMs, host: 'db-01' });
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ status: 0, text: error.message, at: performance.now() });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'idempotency-key': name,
    };
    const call = request(`${url}/api/notify`, { method: 'POST', agent, headers, timeout: 20_000 });
    call.on('response', (response) => collect(response).then(resolve, failed));
    call.on('timeout', () => call.destroy(new Error('no answer within 20 s')));
    call.on('error', failed);
    call.end(body);
  });
}

async function collect(response: IncomingMessage): Promise<Outcome> {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text, at: performance.now() };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
