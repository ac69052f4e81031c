/**
 * iPhones: their ntfy app keeps no connection, and only the maker of the app can wake it. So for each message that an iPhone reads, the
 * server asks the *upstream*, the maker's server of ntfy, to wake it: with a hash of the topic's address and the id of the message,
 * without its text. The app then fetches the message here. Only the node that has stored an entry asks, so the upstream gets one
 * request for each message. Not promised: what waits when a server stops is not asked for, and the app shows it when it is opened.
 */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schedule } from '#core/alarms/schedule.ts';
import { createLruMap } from '#core/limits/lru-map.ts';
import type { Topic } from '#core/log/bus.ts';
import type { Entry, History } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { reaches } from '#core/log/target.ts';
import { phoneStreams } from '#core/streams/ntfy/encoder.ts';
import { ntfyId } from '#core/streams/ntfy/ids.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { answerLine, createMask, pauseOf } from './delivery-answer.ts';

interface UpstreamOptions {
  /** Of the upstream. */
  readonly url: string;
  readonly token: string | undefined;
  /** The server as people enter it in the app: both sides hash it. */
  readonly server: string;
  readonly outbound: Pick<Outbound, 'request'>;
  readonly schedule: Pick<Schedule, 'put' | 'dueTimes'>;
  readonly history: Pick<History, 'find' | 'readAfter' | 'recordsAt'>;
  readonly tenancy: Pick<Tenancy, 'get' | 'epoch'>;
  readonly now: () => number;
  readonly pause?: typeof pauseFor;
  /** Called when the upstream begins to fail; undefined: it works again. */
  readonly onProblem: (problem: string | undefined) => void;
  readonly onError: (error: unknown) => void;
}

const dayMs = 24 * 3_600_000;
/** An iPhone that has read nothing for so long is not woken any more. Each message that wakes it makes it read. */
const forgottenMs = 30 * dayMs;
/** How often it is stored that an iPhone has read a topic. */
const noteEveryMs = dayMs;
/** Spellings of the same topic. */
const mostSpellings = 4;
/** How soon a node knows the iPhones that have read from another one. */
const knownMs = 5_000;
/** The most requests of a tenant that wait. Any of them makes the app show everything once it is opened. */
const mostWaiting = 200;
/** What is older wakes nobody. */
const staleMs = 10 * 60_000;
const timeoutMs = 10_000;
const [leastPauseMs, shortestPauseMs, usualPauseMs] = [1_000, 2_000, 60_000];
const tooManyRequests = 429;

interface Iphone {
  readonly panel: string;
  readonly topics: readonly string[];
}

interface Request {
  /** The hash of the topic's address. */
  readonly topic: string;
  /** Of the message. */
  readonly id: string;
  readonly at: number;
}

export class NtfyUpstream {
  readonly #options: UpstreamOptions;
  readonly #noted = createLruMap<string, number>(10_000);
  readonly #iphones = createLruMap<
    TenantId,
    { readonly until: number; readonly found: Promise<readonly Iphone[]> }
  >(1_000);
  /** Tenants take turns. */
  readonly #waiting = new Map<TenantId, Request[]>();
  readonly #stopping = new AbortController();
  #sending: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** An iPhone reads a topic: it is woken for its messages from now on. */
  async readBy(tenant: TenantId, panel: string, topic: string): Promise<void> {
    const { schedule, now } = this.#options;
    const name = `${tenant} ${panel} ${topic}`;
    if ((this.#noted.get(name) ?? 0) > now() - noteEveryMs) return;
    const subject = { tenant, kind: 'iphone', subject: panel } as const;
    const before = topicsOf((await schedule.dueTimes.find(subject))?.data);
    const topics = [topic, ...before.filter((each) => each !== topic)].slice(0, mostSpellings);
    await schedule.put(subject, forgottenMs, { topics });
    this.#noted.set(name, now());
    this.#iphones.delete(tenant);
  }

  /** This node has stored entries. */
  stored(tenant: Topic, entries: readonly Entry[]): void {
    if (typeof tenant !== 'number' || entries.length === 0 || this.#isFull(tenant)) return;
    this.#ask(tenant, entries).catch(this.#options.onError);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending;
  }

  async #ask(tenant: TenantId, entries: readonly Entry[]): Promise<void> {
    const { history, tenancy, server, now, onError } = this.#options;
    const iphones = await this.#iphonesOf(tenant);
    if (iphones.length === 0) return;
    const snapshot = await tenancy.get(tenant);
    const panels = iphones.flatMap(({ panel: id, topics }) => {
      const panel = snapshot.panels.get(id);
      return panel ? [{ panel, topics }] : [];
    });
    // Most entries are for others: they are not encoded.
    if (!entries.some(({ route }) => panels.some(({ panel }) => reaches(route.target, panel)))) return;
    const { epoch } = tenancy;
    const context = {
      ...{ tenant, epoch, history, now },
      snapshot: () => snapshot,
      router: () => snapshot.router,
    };
    const kind = phoneStreams({ topics: new Map(), filter: {}, isPoll: true, isIphone: true });
    const encoding = kind.encoding(context);
    const frames = [...(await encoding.framesOf(entries, now(), onError))];
    for (const { panel, topics } of panels) {
      const encoder = kind.encoder(context, encoding, [panel]);
      for (const frame of frames) {
        if (!encoder.bytesOf(frame, now())) continue;
        for (const topic of topics)
          this.#add(tenant, {
            topic: hash('sha256', `${server}/${topic}`),
            id: ntfyId(epoch, frame.position),
            at: now(),
          });
      }
    }
  }

  #iphonesOf(tenant: TenantId): Promise<readonly Iphone[]> {
    const { schedule, now } = this.#options;
    const known = this.#iphones.get(tenant);
    if (known && known.until > now()) return known.found;
    const found = schedule.dueTimes
      .list(tenant, 'iphone', mostWaiting)
      .then((all) => all.map(({ subject, data }) => ({ panel: subject, topics: topicsOf(data) })));
    this.#iphones.set(tenant, { until: now() + knownMs, found });
    found.catch(() => this.#iphones.delete(tenant));
    return found;
  }

  #isFull(tenant: TenantId): boolean {
    const waiting = this.#waiting.get(tenant);
    if (!waiting || waiting.length < mostWaiting) return false;
    // What is stale must not keep out what is new.
    const stale = waiting.findIndex((each) => !this.#isStale(each));
    waiting.splice(0, stale === -1 ? waiting.length : stale);
    return waiting.length >= mostWaiting;
  }

  #isStale({ at }: Request): boolean {
    return this.#options.now() - at >= staleMs;
  }

  #add(tenant: TenantId, request: Request): void {
    if (this.#isFull(tenant) || this.#stopping.signal.aborted) return;
    const waiting = this.#waiting.get(tenant);
    if (waiting) waiting.push(request);
    else this.#waiting.set(tenant, [request]);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  /** One after the other, as the upstream limits requests. */
  async #sendAll(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) {
      for (let failures = 0; this.#isToBeSent(next); failures += 1) {
        const pauseMs = await this.#pauseAfter(next, failures);
        if (pauseMs === 0) break;
        await (this.#options.pause ?? pauseFor)(pauseMs, this.#stopping.signal);
      }
    }
  }

  #isToBeSent(request: Request): boolean {
    return !this.#stopping.signal.aborted && !this.#isStale(request);
  }

  #next(): Request | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [tenant, requests] = first;
    const next = requests.shift();
    this.#waiting.delete(tenant);
    if (requests.length > 0) this.#waiting.set(tenant, requests);
    return next;
  }

  /** Sends a request. Returns the pause before it is sent again; 0: it is done. */
  async #pauseAfter({ topic, id }: Request, failures: number): Promise<number> {
    const { url, token, outbound, now } = this.#options;
    const headers = { 'x-poll-id': id, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const backOffMs = Math.min(shortestPauseMs * 2 ** failures, usualPauseMs);
    try {
      const sent = { url: `${url}/${topic}`, method: 'POST', headers, body: '' } as const;
      const answer = await outbound.request(sent, { timeoutMs, signal: this.#stopping.signal });
      const { status } = answer;
      if (status >= 200 && status < 300) {
        this.#report(undefined);
        return 0;
      }
      this.#report(answerLine(answer, createMask(token === undefined ? [] : [token])));
      if (status !== tooManyRequests && status < 500) return 0;
      const pauseMs = pauseOf(answer, now()) ?? (status === tooManyRequests ? usualPauseMs : backOffMs);
      // An upstream may ask for a pause of no seconds.
      return Math.max(pauseMs, leastPauseMs);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#report((error as Error).message);
      return backOffMs;
    }
  }

  #report(problem: string | undefined): void {
    if ((problem === undefined) !== (this.#problem === undefined)) this.#options.onProblem(problem);
    this.#problem = problem;
  }
}

const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);

const topicsOf = (data: unknown): readonly string[] =>
  (data as { readonly topics?: readonly string[] } | undefined)?.topics ?? [];
