/** A server that speaks as Telegram's Bot API does: https://core.telegram.org/bots/api */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Call {
  readonly token: string;
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
  readonly json: any;
}

interface Update {
  readonly update_id: number;
  readonly callback_query: { readonly id: string; readonly data: string };
}

interface Poll {
  readonly response: ServerResponse;
  readonly limit: number;
  readonly timer: NodeJS.Timeout;
}

/** One bot. */
class Bot {
  updates: Update[] = [];
  poll: Poll | undefined;
  webhook = '';
}

export class TelegramBotApi {
  readonly calls: Call[] = [];
  /** Instead of an answer, while it is set. */
  failure: { status: number; body: string; headers?: Record<string, string> } | undefined;
  /** A request that confirms updates does not arrive. */
  losesConfirmations = false;
  readonly #bots = new Map<string, Bot>();
  #ids = 0;
  readonly #server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (body === undefined) return;
    const json = body === '' ? {} : JSON.parse(body);
    this.calls.push({ token, method, json });
    if (this.failure) {
      const { status, headers, body: failed } = this.failure;
      response.writeHead(status, headers).end(failed);
      return;
    }
    const bot = this.#bots.get(token);
    if (!bot) fail(response, 401, 'Unauthorized');
    else if (method === 'getUpdates') this.#getUpdates(bot, json, response);
    else if (method === 'sendMessage' || method === 'editMessageText') {
      this.#ids += 1;
      answer(response, { message_id: json.message_id ?? this.#ids, chat: { id: Number(json.chat_id) } });
    } else if (method === 'answerCallbackQuery') answer(response, true);
    else fail(response, 404, 'Not Found: method not found');
  });

  static async start(...tokens: string[]): Promise<TelegramBotApi> {
    const api = new TelegramBotApi();
    for (const token of tokens) api.addBot(token);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  addBot(token: string): void {
    this.#bots.set(token, new Bot());
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  setWebhook(token: string, address: string): void {
    const bot = this.#botOf(token);
    bot.webhook = address;
    if (bot.poll && address !== '') this.#end(bot, 'terminated by setWebhook request');
  }

  /** Whether somebody waits for updates now. */
  isPolled(token: string): boolean {
    return this.#botOf(token).poll !== undefined;
  }

  /** Updates that were not confirmed. */
  pending(token: string): number {
    return this.#botOf(token).updates.length;
  }

  /** Somebody presses a button; returns the id of the press. */
  press(token: string, data: string, { chat, chatName, person = 'Ann' }: PressOptions): string {
    this.#ids += 1;
    const id = `q${this.#ids}`;
    const callback_query = {
      ...{ id, from: { id: 7, is_bot: false, first_name: person, last_name: 'Example' }, data },
      message: { message_id: 17, chat: { id: chat, type: 'supergroup', username: chatName } },
    };
    const bot = this.#botOf(token);
    bot.updates.push({ update_id: 1_000 + this.#ids, callback_query });
    if (bot.poll) this.#deliver(bot, bot.poll);
    return id;
  }

  callsOf(method: string, token?: string): Call[] {
    return this.calls.filter((call) => call.method === method && (token ?? call.token) === call.token);
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    for (const { poll } of this.#bots.values()) clearTimeout(poll?.timer);
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #botOf(token: string): Bot {
    const bot = this.#bots.get(token);
    if (!bot) throw new Error(`there is no bot ${token}`);
    return bot;
  }

  #getUpdates(
    bot: Bot,
    { offset = 0, limit = 100, timeout = 0 }: { offset?: number; limit?: number; timeout?: number },
    response: ServerResponse,
  ): void {
    if (bot.webhook !== '')
      return fail(
        response,
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    if (this.losesConfirmations && bot.updates.some(({ update_id }) => update_id < offset)) return;
    // The newer one ends the older one.
    this.#end(bot, 'terminated by other getUpdates request; make sure that only one bot instance is running');
    bot.updates = bot.updates.filter(({ update_id }) => update_id >= offset);
    const timer = setTimeout(() => bot.poll && this.#deliver(bot, bot.poll), timeout * 1_000);
    const poll = { response, limit, timer };
    bot.poll = poll;
    response.once('close', () => {
      clearTimeout(timer);
      if (bot.poll === poll) bot.poll = undefined;
    });
    if (bot.updates.length > 0 || timeout === 0) this.#deliver(bot, poll);
  }

  #deliver(bot: Bot, { response, limit, timer }: Poll): void {
    clearTimeout(timer);
    bot.poll = undefined;
    answer(response, bot.updates.slice(0, limit));
  }

  #end(bot: Bot, reason: string): void {
    if (!bot.poll) return;
    clearTimeout(bot.poll.timer);
    fail(bot.poll.response, 409, `Conflict: ${reason}`);
    bot.poll = undefined;
  }
}

interface PressOptions {
  readonly chat: number;
  readonly chatName?: string;
  readonly person?: string;
}

const json = { 'content-type': 'application/json' };
const answer = (response: ServerResponse, result: unknown): void => {
  response.writeHead(200, json).end(JSON.stringify({ ok: true, result }));
};
const fail = (response: ServerResponse, status: number, description: string): void => {
  response.writeHead(status, json).end(JSON.stringify({ ok: false, error_code: status, description }));
};
