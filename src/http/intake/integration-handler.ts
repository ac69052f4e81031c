/** Handles the payload of a format, from its body to its answer: each item becomes a notification. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { actOnAlarms } from '#core/alarms/standing.ts';
import { AppError, unavailable } from '#core/errors.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { shownNameOf } from '#core/people/access.ts';
import { join } from '#core/search/search-query.ts';
import { literalPattern } from '#core/search/search-words.ts';
import {
  type Answer,
  type Format,
  fieldsOf,
  keyOf,
  mayHoldCritical,
  type Payload,
  parseLevelMap,
  parseTtl,
  retryKeyOf,
  type Stored,
  type StoredAlert,
} from '#integrations/format.ts';
import { PayloadWork } from '#integrations/payload.ts';
import type { Services } from '../services.ts';
import { countIgnoredFiles, looksLikeJson, readPayloadBody, unpack } from './body.ts';
import { type IntakeControl, senderOf } from './intake-control.ts';
import { queryOf, readHeader } from './notify-fields.ts';
import type { PayloadTurns } from './overload.ts';

interface NamedFormat extends Format {
  readonly name: string;
}

interface Draft {
  readonly fields: CheckedFields;
  readonly retryKey: RetryKey | null;
}

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sender: Sender;
  readonly work: PayloadWork;
}

type Outcome = Stored | { readonly error: AppError };

/** How long a search for the alert that a payload names may take. */
const searchMs = 1_000;

/** How many items of a payload are routed and stored together. */
const atOnce = 100;

export class IntegrationHandler {
  readonly #services: Services;
  readonly #control: IntakeControl;
  readonly #turns: PayloadTurns;
  /** Requests whose refused items are counted. */
  readonly #counted = new WeakSet<FastifyRequest>();

  constructor(services: Services, control: IntakeControl, turns: PayloadTurns) {
    this.#services = services;
    this.#control = control;
    this.#turns = turns;
  }

  /**
   * `unpackedBytes`: the most that a compressed body may have; 0 if none is unpacked.
   * @throws AppError when nothing was stored, and when sending all of it again can store more.
   */
  async handle(
    request: FastifyRequest,
    reply: FastifyReply,
    format: NamedFormat,
    unpackedBytes: number,
  ): Promise<Answer> {
    const call: Call = { request, reply, sender: senderOf(request), work: new PayloadWork(0) };
    const refusal = this.#takeOne(call);
    if (refusal && !mayBeCritical(request, format)) throw refusal;
    let payload: Payload;
    let outcomes: readonly Outcome[];
    try {
      const read = await this.#read(call, format, refusal, unpackedBytes);
      payload = read.payload;
      const isPaid = !refusal || format.verify !== undefined;
      outcomes = await this.#storeAll(call, read.drafts, { refusal, isPaid });
    } finally {
      this.#control.rates.charge(call.sender, refusal && 'critical', call.work.extraTokens);
    }
    const stored = this.#conclude(call, outcomes);
    if (format.acknowledges?.(payload)) await this.#acknowledge(call.sender, payload.alert);
    this.#services.metrics.of(call.sender.tenant).answeredAfter(reply.elapsedTime / 1000);
    const files = countIgnoredFiles(request.raw) + (format.countFiles?.(payload) ?? 0);
    return format.answer?.(stored, payload, this.#services.now()) ?? usualAnswer(outcomes, files);
  }

  /** Whether the items that were refused are counted, so that the answer to the request is not. */
  hasCounted(request: FastifyRequest): boolean {
    return this.#counted.has(request);
  }

  /** Takes one token for the request before it is read. Returns the refusal, if any; then only critical items are stored. */
  #takeOne({ reply, sender }: Pick<Call, 'reply' | 'sender'>): AppError | undefined {
    try {
      this.#control.rates.take(reply, sender, undefined);
      return undefined;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  async #read(
    call: Call,
    format: NamedFormat,
    refusal: AppError | undefined,
    unpackedBytes: number,
  ): Promise<{ payload: Payload; drafts: Draft[] }> {
    const { request, reply, sender, work } = call;
    const inTurn = <T>(read: () => T | Promise<T>) =>
      this.#turns.run(sender.tenant, bodyOf(request)?.length ?? 0, read);
    try {
      const query = new URLSearchParams(queryOf(request.url));
      const levels = parseLevelMap(query.getAll('level'));
      const ttl = parseTtl(query.getAll('ttl'), readHeader(request.raw.rawHeaders, 'X-TTL'));
      const given: Payload = {
        body: await inTurn(() => this.#readBody(call, format, refusal, unpackedBytes)),
        header: (name: string) => readHeader(request.raw.rawHeaders, name),
        headerNames: Object.keys(request.headers),
        query,
        params: request.params as Payload['params'],
        work,
      };
      // A format with outgoing requests takes its token first.
      if (refusal && format.verify) this.#control.rates.take(reply, sender, 'critical');
      await format.verify?.(given, { fetchText: this.#services.fetchText, now: this.#services.now() });
      const key = refusal ? undefined : format.alertKey?.(given);
      const findAlert = (of: string) =>
        this.#findAlert(sender, keyOf(of) ?? of).catch((error: unknown) => {
          // An end is stored without the alert's title; an acknowledgement would be lost.
          if (format.acknowledges?.(given)) throw error;
          return undefined;
        });
      const payload = key === undefined ? given : { ...given, alert: await findAlert(key) };
      const drafts = await inTurn(() =>
        format.read(payload).map((item) => {
          const fields = fieldsOf(item, levels, ttl);
          return { fields, retryKey: retryKeyOf(format.name, item, fields) };
        }),
      );
      return { payload, drafts };
    } catch (error) {
      throw refusal ?? error;
    }
  }

  async #readBody(
    { request, work }: Call,
    format: NamedFormat,
    refusal: AppError | undefined,
    unpackedBytes: number,
  ): Promise<Payload['body']> {
    const isUnpacked = unpackedBytes > 0 && (await unpack(request, unpackedBytes));
    if (isUnpacked && refusal && !mayBeCritical(request, format)) throw refusal;
    const body = bodyOf(request);
    work.add(body?.length ?? 0);
    return readPayloadBody(request.raw, body, format);
  }

  /**
   * The alert that is on panels under this key, or else the newest notification with it that was not counted on another one.
   * @throws AppError `unavailable` when not all of history was searched in time.
   */
  async #findAlert({ tenant }: Sender, key: string): Promise<StoredAlert | undefined> {
    const { history, now } = this.#services;
    const live = await history.findLive(tenant, key, now());
    if (live !== undefined) return history.find(tenant, live);
    const query = join('and', [
      { kind: 'key', patterns: [literalPattern(key)] },
      { kind: 'not', term: { kind: 'is', states: ['throttled'] } },
    ]);
    const options = { limit: 1, now: now(), timeoutMs: searchMs };
    const { records, searchedTo } = await history.search(tenant, query, options);
    if (records.length === 0 && searchedTo !== null)
      throw unavailable('the alert was not found in time: send it again');
    return records[0];
  }

  async #acknowledge(sender: Sender, alert: StoredAlert | undefined): Promise<void> {
    // An alert that has ended needs no acknowledgement.
    if (!alert || alert.sentLevel === 'success') return;
    const at = this.#services.now();
    const action = { kind: 'acknowledge', at, by: shownNameOf(sender), note: null } as const;
    await actOnAlarms(this.#services, sender.tenant, [alert.id], action);
  }

  /**
   * Stores items in order, some at a time, so that other requests are served in between. The token of the request pays for the
   * first new item; repeats are free. After a refusal the database is read only for items whose own bucket has paid.
   */
  async #storeAll(
    call: Call,
    drafts: readonly Draft[],
    { refusal, isPaid }: { refusal: AppError | undefined; isPaid: boolean },
  ): Promise<Outcome[]> {
    if (refusal && !drafts.some(({ fields }) => fields.level === 'critical')) throw refusal;
    const payment = { isLeft: isPaid, isForCritical: refusal !== undefined };
    const outcomes: Outcome[] = [];
    for (let i = 0; i < drafts.length; i += atOnce) {
      const slice = drafts.slice(i, i + atOnce);
      const earlier =
        refusal || drafts.length === 1
          ? []
          : await Promise.all(slice.map((draft) => this.#findEarlier(call.sender, draft)));
      if (earlier.some((id) => id !== undefined)) call.work.forgive();
      const store = async (draft: Draft, at: number): Promise<Outcome> => {
        const id = earlier[at];
        return id === undefined ? this.#store(call, draft, payment) : { id, fields: draft.fields };
      };
      outcomes.push(...(await Promise.all(slice.map(store))));
    }
    return outcomes;
  }

  async #store(
    { request, reply, sender }: Call,
    { fields, retryKey }: Draft,
    payment: { isLeft: boolean; readonly isForCritical: boolean },
  ): Promise<Outcome> {
    try {
      return await this.#control.run(async () => {
        if (payment.isLeft && (!payment.isForCritical || fields.level === 'critical')) payment.isLeft = false;
        else this.#control.rates.take(reply, sender, fields.level);
        const { id } = await this.#services.intake.accept(sender, request.sourceIp, fields, retryKey);
        return { id, fields };
      });
    } catch (error) {
      if (error instanceof AppError) return { error };
      throw error;
    }
  }

  async #findEarlier({ tenant }: Sender, { fields, retryKey }: Draft): Promise<string | undefined> {
    return retryKey === null ? undefined : this.#services.intake.findEarlier(tenant, fields, retryKey);
  }

  /** Counts each item that was refused, by its own reason. */
  #conclude({ request, sender }: Call, outcomes: readonly Outcome[]): readonly Stored[] {
    const stored = outcomes.filter((outcome): outcome is Stored => 'id' in outcome);
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
    const passing = errors.find(({ retryAfterSeconds }) => retryAfterSeconds !== undefined);
    const first = passing ?? errors[0];
    for (const error of errors) this.#control.count(sender, error);
    if (!first || (!passing && stored.length > 0)) return stored;
    this.#counted.add(request);
    if (stored.length === 0) throw first;
    throw new AppError(
      'unavailable',
      `${errors.length} of ${outcomes.length} were not stored (${first.message}): send all of them again, those that are stored are not stored twice`,
      { retryAfterSeconds: first.retryAfterSeconds ?? 1 },
    );
  }
}

const bodyOf = ({ body }: FastifyRequest) => body as Buffer | undefined;

/** Whether an item could be critical, before the body is parsed. Levels of the query and of headers may make any item critical. */
function mayBeCritical(request: FastifyRequest, { criticalPattern }: Format): boolean {
  if (/critical|%/i.test(queryOf(request.url)) || request.raw.headers['ce-severity'] !== undefined)
    return true;
  const bytes = bodyOf(request);
  if (!bytes) return false;
  if (!looksLikeJson(bytes)) return true;
  const text = bytes.toString('latin1');
  return mayHoldCritical(text) || (criticalPattern?.test(text) ?? false);
}

function usualAnswer(outcomes: readonly Outcome[], files: number): Answer {
  const items = outcomes.map((outcome) =>
    'id' in outcome ? { id: outcome.id } : { error: outcome.error.message },
  );
  const warning = `${files === 1 ? '1 file was' : `${files} files were`} ignored: Belfry keeps no files`;
  return {
    status: 200,
    body: { ok: items.every((item) => 'id' in item), items, ...(files > 0 && { warning }) },
  };
}
