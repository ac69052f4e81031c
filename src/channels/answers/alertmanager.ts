/**
 * Silences of Alertmanager: what one covers there is on the shelf here until it ends. Once a second, Belfry compares what is covered
 * with what is on the shelf; Alertmanager decides what a silence covers. What is in memory only saves work: after a restart, the log
 * says which silences were followed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '#contract/backoff.ts';
import { limits } from '#contract/limits.ts';
import { type AlarmList, listAlarms } from '#core/alarms/standing.ts';
import type { Answered, ChannelAnswer } from '#core/channels/answers.ts';
import { isSameShelf, isShelfOf, type SilenceShelf, shelfOf } from '#core/channels/silences.ts';
import { excessOf } from '#core/limits/bounded-json.ts';
import { RateLimiter } from '#core/limits/rate-limits.ts';
import type { Shelved } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { alertLabels, authorizationOf } from '../kinds/alertmanager.ts';
import { attemptMs, urlWith } from '../message.ts';
import { readActiveSilences, readSilencedAlerts } from './silenced.ts';
import { type AnswerSource, fetching, reading, type SourceOptions } from './source.ts';

const alertsPath = '/api/v2/alerts?active=false&silenced=true&inhibited=true&unprocessed=false';
const silencesPath = '/api/v2/silences';
/** Of each answer, as of a webhook. */
const mostBytes = 4 * 1024 * 1024;
const usualEveryMs = 1_000;
/** As many times the usual pause. */
const [shortestPause, longestPause] = [0.25, 30];
/** Alarms that are changed after one poll, and how many of them at a time. */
const [mostChanges, changesAtOnce] = [500, 20];
/** Alarms of a tenant that are changed in the long run; more only in a burst, as when one silence covers many alerts. */
const rate = { perSecond: 50, burst: 2_000 };
const limiter = new RateLimiter<TenantId>();
/** Silenced alerts without an alarm here that are looked up again after one poll. */
const mostRetried = 20;
/** Pages of shelved alarms among which those of the channel are found when it starts. */
const mostPages = 10;
/**
 * More than an answer may have. An alarm that ends before its silence is remembered until the silence ends; beyond this many, those on
 * the shelf are read again.
 */
const mostHeld = 50_000;

/** The alarm of an alert that silences cover. */
interface SilencedAlarm {
  /** Its key or id. */
  readonly alarm: string;
  /** The alert was not made by the channel: it may have come here as a webhook. */
  readonly isFromThere: boolean;
  readonly silences: readonly string[];
  /** Another one when it may be another alarm: of the channel, that may be the same alert, which is sent again. */
  readonly moment: string;
}

interface FollowedSilence {
  readonly id: string;
  readonly shelf: SilenceShelf;
  /** Another one when it is edited. */
  readonly version: string;
}
type Silences = ReadonlyMap<string, FollowedSilence>;

/** With the silence that ends last. */
interface Covered extends SilencedAlarm {
  readonly shelf: SilenceShelf;
  readonly version: string;
}

interface Followed extends Pick<Covered, 'moment' | 'version'> {
  /** When the alarm began; undefined: nothing stands under its key. */
  readonly since: number | undefined;
  /** Whether the alarm exists here. */
  readonly isKnown: boolean;
}

/** An alarm that is on the shelf for a silence. */
interface Held {
  /** The silences that cover its alert, or did until the alert ended; empty: not known yet. */
  silences: readonly string[];
  /** Set for one that was found there at the start. */
  readonly shelf?: Shelved;
  /** No silence covered it at the last poll. It comes back if none does at the next one: nodes of a cluster differ for a moment. */
  isEnding?: boolean;
}

/** Polls until {@link close} is called: after a failure it tries again, with longer and longer pauses. */
export class AlertmanagerSilences implements AnswerSource {
  readonly #options: SourceOptions;
  readonly #everyMs: number;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;
  /** The silences that were followed, or need not be, by alarm; those that were looked up last are the last. */
  readonly #followed = new Map<string, Followed>();
  #held: Map<string, Held> | undefined;

  constructor(options: SourceOptions, everyMs = usualEveryMs) {
    this.#options = options;
    this.#everyMs = everyMs;
    this.#ended = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the channel follows no more silences'));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      const error = await this.#poll().then(
        () => undefined,
        (failure: Error) => failure,
      );
      if (signal.aborted) return;
      const now = performance.now();
      if (error) this.#options.onProblem(error);
      else this.#options.onWorking();
      const pauseMs = error
        ? backoffMs(failures, { baseMs: this.#everyMs, capMs: this.#everyMs * longestPause })
        : [...(this.#held?.values() ?? [])].some(({ isEnding }) => isEnding)
          ? this.#everyMs * shortestPause
          : Math.max(this.#everyMs * shortestPause, this.#everyMs - (now - began));
      failures = error ? failures + 1 : 0;
      await sleep(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  async #poll(): Promise<void> {
    const alarms = await this.#read(alertsPath, (body) => this.#alarmsIn(body));
    if (!this.#held || this.#held.size > mostHeld) this.#held = await this.#findHeld();
    const held = this.#held;
    const { ended, toFollow } =
      alarms.length === 0 && held.size === 0
        ? this.#compare(alarms, new Map(), held)
        : await this.#read(silencesPath, (body) => this.#compare(alarms, this.#silencesIn(body), held));
    // First: an alarm may have two names, as the id of its first notification and of its last one.
    await this.#each(ended, (alarm) => this.#takeBack(alarm, held));
    await this.#each(toFollow, (each) => this.#follow(each, held));
  }

  /** The alarms that come back, and those whose silences are to be followed. */
  #compare(alarms: readonly SilencedAlarm[], silences: Silences, held: ReadonlyMap<string, Held>) {
    const names = new Set(alarms.map(({ alarm }) => alarm));
    for (const alarm of this.#followed.keys()) if (!names.has(alarm)) this.#followed.delete(alarm);
    const covered = alarms.flatMap((each) => coveredBy(each, silences));
    for (const { alarm, silences: ids } of covered) {
      const own = held.get(alarm);
      if (own) own.silences = ids;
    }
    const ended: string[] = [];
    for (const [alarm, each] of held) {
      const wasEnding = each.isEnding;
      each.isEnding = !names.has(alarm) && !stands(each, silences);
      if (wasEnding && each.isEnding) ended.push(alarm);
    }
    return { ended: this.#firstOf(ended), toFollow: this.#toFollow(covered) };
  }

  #alarmsIn(body: string): SilencedAlarm[] {
    const { setup, tenant } = this.#options;
    const own = Object.entries(alertLabels(setup, tenant, ''));
    // As the integrations name it: see integrations/formats.
    const isGrafana = /\/api\/alertmanager\/grafana\/*$/.test(setup.settings.url ?? '');
    return readSilencedAlerts(body).map(({ fingerprint, labels, startsAt, updatedAt, silences }) => {
      const { alarm } = labels;
      const isOwn =
        own.length === Object.keys(labels).length &&
        own.every(([name, value]) => name === 'alarm' || labels[name] === value);
      return alarm !== undefined && isOwn
        ? { alarm, isFromThere: false, silences, moment: updatedAt }
        : {
            ...{ alarm: `${isGrafana ? 'grafana' : 'alertmanager'}:${fingerprint}`, isFromThere: true },
            ...{ silences, moment: startsAt },
          };
    });
  }

  #silencesIn(body: string): Silences {
    const found = [...readActiveSilences(body).values()].map((silence) => {
      const shelf = shelfOf(this.#options.channel, silence);
      return { id: silence.id, shelf, version: JSON.stringify(shelf) };
    });
    return new Map(found.map((silence) => [silence.id, silence]));
  }

  /** Those that changed, and some that were not found before. */
  #toFollow(covered: readonly Covered[]): Covered[] {
    const byAlarm = new Map(covered.map((each) => [each.alarm, each]));
    const changed = [...byAlarm.values()].filter(({ alarm, moment, version }) => {
      const known = this.#followed.get(alarm);
      return known?.version !== version || known.moment !== moment;
    });
    const again = [...this.#followed]
      .filter(([, { isKnown }]) => !isKnown)
      .slice(0, mostRetried)
      .flatMap(([alarm]) => byAlarm.get(alarm) ?? []);
    return [...new Set([...this.#firstOf(changed), ...again])];
  }

  async #follow(each: Covered, held: Map<string, Held>): Promise<void> {
    const { alarm, isFromThere, shelf, silences, moment, version } = each;
    const since = await this.#sinceOf(alarm);
    const known = this.#followed.get(alarm);
    const isSame = known?.isKnown && known.version === version && known.since === since;
    const outcome = isSame
      ? 'unchanged'
      : await this.#answer({ kind: 'shelve', alarm, isFromThere, ...shelf });
    if (outcome === undefined) return;
    this.#followed.delete(alarm);
    this.#followed.set(alarm, { moment, version, since, isKnown: outcome !== 'not-found' });
    if (outcome === 'done') held.set(alarm, { silences });
  }

  async #sinceOf(alarm: string): Promise<number | undefined> {
    const { channel, context } = this.#options;
    const id = await context.history.findLive(channel.tenant, alarm, context.now());
    return id === undefined ? undefined : (await context.history.find(channel.tenant, id))?.alarm?.since;
  }

  async #takeBack(alarm: string, held: Map<string, Held>): Promise<void> {
    const by = this.#options.channel.name;
    const outcome = await this.#answer({ kind: 'unshelve', alarm, isFromThere: true, by, note: null });
    if (outcome !== undefined) held.delete(alarm);
  }

  /** undefined: not now. */
  async #answer(answer: Omit<ChannelAnswer, 'isSilence'>): Promise<Answered | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    return this.#options.onAnswer({ ...answer, isSilence: true });
  }

  /** The first ones, as many as may be changed after this poll. */
  #firstOf<T>(all: readonly T[]): T[] {
    const { tenant } = this.#options.channel;
    return all.slice(0, mostChanges).filter(() => limiter.take(tenant, rate, performance.now()).allowed);
  }

  /** Some at a time. @throws what `work` throws, after the others that run. */
  async #each<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
    for (let from = 0; from < all.length; from += changesAtOnce) {
      const outcomes = await Promise.allSettled(all.slice(from, from + changesAtOnce).map(work));
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    }
  }

  /** The alarms that the channel has put on the shelf before it was started. */
  async #findHeld(): Promise<Map<string, Held>> {
    const { context, channel } = this.#options;
    const held = new Map<string, Held>();
    let after: AlarmList['next'] = null;
    for (let page = 0; page < mostPages; page += 1) {
      const list: AlarmList = await listAlarms(context, channel.tenant, {
        ...{ query: { kind: 'all' }, states: ['shelved'], limit: limits.alarmPage },
        ...{ signal: this.#closing.signal, ...(after && { after }) },
      });
      for (const { id, key, alarm } of list.records)
        if (alarm?.shelved && isShelfOf(channel, alarm.shelved))
          held.set(key ?? id, { silences: [], shelf: alarm.shelved });
      after = list.next;
      if (!after) break;
    }
    return held;
  }

  #read<T>(path: string, read: (body: string) => T): Promise<T> {
    const { tenant } = this.#options.channel;
    return fetching.run(tenant, () => this.#fetch(path, read), this.#closing.signal);
  }

  async #fetch<T>(path: string, read: (body: string) => T): Promise<T> {
    const { setup, outbound, channel } = this.#options;
    const { signal } = this.#closing;
    const { status, body } = await outbound.request(
      { url: urlWith(setup.settings.url ?? '', path), headers: authorizationOf(setup) },
      { timeoutMs: attemptMs, signal, maxBytes: mostBytes },
    );
    const [name] = path.split('?');
    if (status !== 200) throw new Error(`GET ${name} is answered with ${status}`);
    if (Buffer.byteLength(body) >= mostBytes)
      throw new Error(`the answer to GET ${name} has more than ${mostBytes / 1024 / 1024} MiB`);
    return reading.run(
      channel.tenant,
      async () => {
        try {
          return read(body);
        } catch (error) {
          const reason = excessOf(error) ?? 'it is not the JSON of Alertmanager';
          throw new Error(`the answer to GET ${name} cannot be read: ${reason}`, { cause: error });
        }
      },
      signal,
    );
  }
}

/** None if its silences are not among those that stand: both lists are not from the same moment. */
function coveredBy(alarm: SilencedAlarm, silences: Silences): readonly Covered[] {
  const standing = alarm.silences.flatMap((id) => silences.get(id) ?? []);
  const [last] = standing.sort((a, b) => b.shelf.until - a.shelf.until || a.id.localeCompare(b.id));
  return last ? [{ ...alarm, shelf: last.shelf, version: last.version }] : [];
}

/** Whether a silence still asks for the shelf of an alarm whose alert is not covered: the alert may have ended before the silence. */
function stands(held: Held, silences: Silences): boolean {
  if (held.silences.some((id) => silences.has(id))) return true;
  const { shelf } = held;
  if (held.silences.length > 0 || !shelf) return false;
  for (const silence of silences.values())
    if (isSameShelf(shelf, silence.shelf)) {
      held.silences = [silence.id];
      return true;
    }
  return false;
}
