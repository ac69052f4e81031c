import { clip, messageText } from '#core/routing/message-text.ts';
import { answerData, buttonsFor } from '../buttons.ts';
import {
  type ChannelSetup,
  detailsWithLinksOf,
  type HttpKind,
  jsonRequest,
  type OutgoingNotification,
  retryAfterInBody,
  updateText,
  urlWith,
} from '../message.ts';

/** Beside a title and links that leave less, the text is cut at its end. */
const leastChars = 100;

/** Plain text, so nothing in it is markup; at most 4,096 characters: https://core.telegram.org/bots/api#sendmessage */
export const telegram: HttpKind = {
  request: (setup, notification) =>
    call(setup, 'sendMessage', { text: textOf(notification), ...keyboardOf(setup, notification) }),

  /** Changes the message: https://core.telegram.org/bots/api#editmessagetext */
  update(setup, notification, update) {
    if (update.reference === null) return undefined;
    const text = textOf(notification, updateText(update));
    return call(setup, 'editMessageText', {
      ...{ message_id: Number(update.reference), text },
      ...keyboardOf(setup, notification),
    });
  },

  referenceOf: ({ body }) => /"message_id"\s*:\s*(\d{1,15})/.exec(body)?.[1],
  retryAfterMs: retryAfterInBody,

  outcomeOf({ status, body }) {
    // As when an attempt is repeated after a crash.
    if (status === 400 && body.includes('message is not modified')) return { outcome: 'delivered' };
    return undefined;
  },
};

/** The address of the bot, below which its methods are. */
export const botAddress = ({
  settings: { url = 'https://api.telegram.org' },
  secrets: { token = '' },
}: ChannelSetup): string => urlWith(url, `/bot${token}`);

const call = (setup: ChannelSetup, method: string, given: object) =>
  jsonRequest(`${botAddress(setup)}/${method}`, {
    chat_id: setup.settings.chat ?? '',
    ...given,
    link_preview_options: { is_disabled: true },
  });

/** If Belfry gets their presses. A change of the message without any takes them away. */
function keyboardOf(setup: ChannelSetup, notification: OutgoingNotification) {
  const isAnswered = setup.secrets.webhookSecret !== undefined || setup.settings.polling === 'on';
  const row = buttonsFor(setup, isAnswered, notification).map(({ button, label }) => ({
    text: label,
    callback_data: answerData(button, setup.id, notification.id),
  }));
  return row.length === 0 ? {} : { reply_markup: { inline_keyboard: [row] } };
}

/** `happened`: above all else. */
function textOf(notification: OutgoingNotification, happened = ''): string {
  const { title, url: link } = notification;
  const end = [detailsWithLinksOf(notification), link].filter((part) => part !== null).join('\n');
  const free = 4_000 - end.length;
  const before = happened === '' ? '' : `${clip(happened, Math.min(1_000, Math.floor(free / 2)))}\n\n`;
  const room = free - before.length;
  const text = `${title}\n\n${messageText(notification, Math.max(leastChars, room - title.length - 2))}`;
  return `${before}${clip(text, room)}\n\n${end}`;
}
