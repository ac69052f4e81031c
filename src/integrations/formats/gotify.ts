import { AppError } from '#core/errors.ts';
import type { Answer, Format, Payload, Stored } from '../format.ts';
import { type JsonObject, objectAt, optionalObject, requiredText, textOf } from '../payload.ts';

/** POST /message of Gotify, as JSON, form or multipart form: https://gotify.net/docs/pushmsg */
export const gotify: Format = {
  read({ body, query }) {
    const message = { ...Object.fromEntries(query), ...(body === undefined ? {} : objectAt(body)) };
    const priority = priorityOf(message);
    return [
      {
        title: textOf(message.title) ?? 'Gotify',
        message: withoutFence(requiredText(message.message, '/message')),
        severity: String(priority),
        level: priority >= 8 ? 'error' : priority >= 4 ? 'warning' : 'info',
        url: clickOf(message.extras),
      },
    ];
  },
  answer,
};

/** Proxmox makes the whole text a block of code in Markdown. */
const withoutFence = (text: string) => /^```\n(.*)\n```$/s.exec(text)?.[1] ?? text;

/** Gotify's own scale: 0 to 3 low, 4 to 7 medium, from 8 on high. */
function priorityOf({ priority }: JsonObject): number {
  const number = Number(textOf(priority) ?? 0);
  if (Number.isInteger(number) && Math.abs(number) <= 1_000) return number;
  throw new AppError('bad-request', 'priority must be a whole number, as in 5', {
    place: { pointer: '/priority' },
  });
}

/** https://gotify.net/docs/msgextras */
function clickOf(extras: unknown): string | undefined {
  if (typeof extras !== 'object') return undefined;
  const shown = optionalObject(
    optionalObject(extras, '/extras')['client::notification'],
    '/extras/client::notification',
  );
  return textOf(optionalObject(shown.click, '/extras/client::notification/click').url);
}

function answer([stored]: readonly Stored[], { body, query }: Payload, now: number): Answer {
  if (!stored) throw new Error('a message is one item');
  const { id, fields } = stored;
  const { title, message } = fields;
  const sent = { ...Object.fromEntries(query), ...(body as object | undefined) };
  return {
    status: 200,
    body: {
      // Gotify's clients expect a whole number.
      id: Number.parseInt(id.replaceAll('-', '').slice(-13), 16),
      appid: 0,
      title,
      message,
      priority: priorityOf(sent),
      date: new Date(now).toISOString(),
      extras: { belfry: { id } },
    },
  };
}
