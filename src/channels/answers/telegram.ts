/**
 * Presses of buttons in Telegram, for a server without a public address: Belfry fetches them with long polls. All channels of a bot
 * share one, because Telegram allows one reader. https://core.telegram.org/bots/api#getupdates
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '#contract/backoff.ts';
import type { Answered } from '#core/channels/answers.ts';
import { parseBoundedJson } from '#core/limits/bounded-json.ts';
import { getOrMake } from '#core/maps.ts';
import type { OutboundResponse } from '#outbound/outbound.ts';
import { pauseOf } from '../delivery-answer.ts';
import { botAddress } from '../kinds/telegram.ts';
import { attemptMs, jsonRequest, retryAfterInBody } from '../message.ts';
import { fieldOf, outcomeText, readTelegramUpdate } from './signed.ts';
import { type AnswerSource, reading, type SourceOptions } from './source.ts';

/** How long Telegram waits for a press before it answers. */
const pollSeconds = 25;
/** A message has 4,096 characters, so this many updates are shorter than `mostBytes`. */
const updatesAtOnce = 10;
const mostBytes = 1024 * 1024;
/** The least time from one poll to the next: with `updatesAtOnce`, the most presses in a second are 20. */
const roundMs = 500;
/** Before the next poll after the first and after many failures. */
const usualRetry = { baseMs: 1_000, capMs: 30_000 };
/** Without a failure for this long, the next one is the first again. */
const lastingMs = 60_000;
/** A press that cannot be done this often is dropped: those behind it wait. */
const mostTries = 10;
/** A channel that was closed so recently is being changed, and comes back. */
const comesBackMs = 3_000;
/** How long the last presses are confirmed when no more are fetched. */
const confirmMs = 2_000;
/** Answers to presses that are on their way at a time; the press itself counts without one. */
const mostAnswering = 50;

/** Returns what takes the presses of a channel until it is closed. */
export function createTelegramPolling(retry = usualRetry): (options: SourceOptions) => AnswerSource {
  /** By the address that has the token. */
  const bots = new Map<string, Bot>();
  return (options) => {
    const { channel, setup } = options;
    const address = new URL(botAddress(setup)).href;
    const bot = getOrMake(bots, address, () => new Bot(address, retry));
    bot.add(options);
    return {
      close() {
        const isLast = bot.remove(channel.id);
        if (isLast) bots.delete(address);
        return isLast ? bot.end() : bot.settled();
      },
    };
  };
}

class Bot {
  readonly #address: string;
  readonly #retry: typeof usualRetry;
  /** By the id of the channel. */
  readonly #members = new Map<string, SourceOptions>();
  /** When channels were closed, by their ids. */
  readonly #closedAt = new Map<string, number>();
  readonly #closing = new AbortController();
  #ended: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();
  /** The update after the last one that is done, and the one up to which Telegram knows that. */
  #offset: number | undefined;
  #confirmed: number | undefined;
  #tries = 0;
  #answering = 0;
  #isWorking = false;

  constructor(address: string, retry: typeof usualRetry) {
    [this.#address, this.#retry] = [address, retry];
  }

  add(options: SourceOptions): void {
    this.#members.set(options.channel.id, options);
    this.#closedAt.delete(options.channel.id);
    this.#ended ??= this.#run(options);
  }

  /** Returns whether no channel is left. */
  remove(channel: string): boolean {
    this.#members.delete(channel);
    for (const id of this.#closedAt.keys()) if (!this.#mayComeBack(id)) this.#closedAt.delete(id);
    this.#closedAt.set(channel, performance.now());
    return this.#members.size === 0;
  }

  /** Resolves once the answer that is being done is done. */
  settled(): Promise<void> {
    return this.#current;
  }

  /** Fetches no more; resolves once what is being done is done. */
  async end(): Promise<void> {
    this.#closing.abort(new Error('the channel takes no more presses'));
    await this.#ended;
  }

  async #run(first: SourceOptions): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    let failedAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const began = performance.now();
      let pauseMs = roundMs;
      try {
        await this.#round();
      } catch (error) {
        if (signal.aborted) break;
        if (began - failedAt >= lastingMs) failures = 0;
        failedAt = performance.now();
        pauseMs = backoffMs(failures, this.#retry);
        if (error instanceof BotError) pauseMs = Math.max(pauseMs, error.retryAfterMs);
        pauseMs += failedAt - began;
        failures += 1;
        if (error instanceof NotYet) continue;
        this.#isWorking = false;
        for (const { onProblem } of this.#members.values()) onProblem(error as Error);
      } finally {
        const restMs = began + pauseMs - performance.now();
        await sleep(Math.max(0, restMs), undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
    await this.#confirm(first).catch(() => undefined);
  }

  /** One poll. After a failure it does not wait, and shows at once whether it works again. */
  async #round(): Promise<void> {
    const [member] = this.#members.values();
    if (!member) return;
    const { signal } = this.#closing;
    const response = await this.#fetch(member, {
      ...{ limit: updatesAtOnce, seconds: this.#isWorking ? pollSeconds : 0 },
      ...{ timeoutMs: attemptMs + 1_000 * pollSeconds, signal },
    });
    const updates = await reading.run(member.channel.tenant, async () => updatesIn(response), signal);
    this.#confirmed = this.#offset;
    for (const update of updates.slice(0, updatesAtOnce)) {
      if (signal.aborted) return;
      this.#tries += 1;
      this.#current = this.#take(update);
      await this.#current.catch((error: unknown) => {
        if (this.#tries < mostTries) throw error;
        member.onLost(new Error(`a press was dropped after ${mostTries} tries`));
      });
      [this.#offset, this.#tries] = [idOf(update) + 1, 0];
    }
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (const { onWorking } of this.#members.values()) onWorking();
  }

  /** The offset confirms the updates before it: Telegram does not send them again. */
  #fetch(
    { outbound }: SourceOptions,
    {
      limit,
      seconds,
      ...options
    }: {
      readonly limit: number;
      readonly seconds: number;
      readonly timeoutMs: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<OutboundResponse> {
    const offset = this.#offset;
    return outbound.request(
      jsonRequest(`${this.#address}/getUpdates`, {
        ...{ limit, timeout: seconds, allowed_updates: ['callback_query'] },
        ...(offset !== undefined && { offset }),
      }),
      { ...options, maxBytes: mostBytes },
    );
  }

  async #confirm(member: SourceOptions): Promise<void> {
    if (this.#offset === this.#confirmed) return;
    await this.#fetch(member, { limit: 1, seconds: 0, timeoutMs: confirmMs });
  }

  #mayComeBack(channel: string): boolean {
    const closedAt = this.#closedAt.get(channel);
    return closedAt !== undefined && performance.now() - closedAt < comesBackMs;
  }

  /** @throws Error if nothing could be stored, NotYet if its channel is being changed: it must come again. */
  async #take(update: unknown): Promise<void> {
    const { channel = '' } = readTelegramUpdate(update, {});
    const member = this.#members.get(channel);
    if (!member && this.#mayComeBack(channel)) throw new NotYet();
    const read = readTelegramUpdate(update, member?.setup.settings ?? {});
    let outcome: Answered | undefined = 'not-found';
    if (member && read.answer)
      outcome = await member.onAnswer(read.answer).catch((error: Error) => {
        // What a store says is for the operator alone.
        if (this.#tries === 1) member.onLost(error);
        throw new Error('a press could not be stored, and is tried again');
      });
    if (outcome === undefined) throw new NotYet();
    void member?.showAnswer(member.channel, read, outcome);
    if (read.press) void this.#answer(read.press, outcome);
  }

  /** What the person who pressed reads. One attempt. */
  async #answer(press: string, outcome: Answered): Promise<void> {
    const [member] = this.#members.values();
    if (!member || this.#answering >= mostAnswering) return;
    this.#answering += 1;
    const given = { callback_query_id: press, text: outcomeText(outcome) };
    await member.outbound
      .request(jsonRequest(`${this.#address}/answerCallbackQuery`, given), { timeoutMs: attemptMs })
      .catch(() => undefined);
    this.#answering -= 1;
  }
}

/** No failure: its channel is being changed. */
class NotYet extends Error {
  override readonly message = 'the channel of a button was being changed';
}

class BotError extends Error {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const hints: Readonly<Record<number, string>> = {
  401: '; is the token of the bot right?',
  404: '; is the token of the bot right?',
  409: '; remove the webhook of the bot, and end other programs that read its messages',
};

/** @throws BotError with what Telegram says. */
function updatesIn(response: OutboundResponse): readonly unknown[] {
  const { status, body } = response;
  const answer = findJson(body);
  const updates = fieldOf(answer, 'result');
  if (status === 200 && Array.isArray(updates) && updates.every((each) => Number.isSafeInteger(idOf(each))))
    return updates;
  const description = fieldOf(answer, 'description');
  if (typeof description !== 'string')
    throw new BotError(`answered ${status}, but not as the Bot API of Telegram does`);
  const pauseMs = pauseOf(response, Date.now(), retryAfterInBody(response));
  throw new BotError(`Telegram answered ${status}: ${description}${hints[status] ?? ''}`, pauseMs);
}

function findJson(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return undefined;
  }
}

const idOf = (update: unknown): number => Number(fieldOf(update, 'update_id'));
