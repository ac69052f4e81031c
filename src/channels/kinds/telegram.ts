import {
  clip,
  detailsWithRunbookOf,
  type HttpKind,
  jsonRequest,
  messageText,
  retryAfterInBody,
  urlWith,
} from '../message.ts';

/** Beside a title and links that leave less, the text is cut at its end. */
const leastChars = 100;

/** Plain text, so nothing in it is markup; at most 4,096 characters: https://core.telegram.org/bots/api#sendmessage */
export const telegram: HttpKind = {
  request(
    { settings: { url = 'https://api.telegram.org', chat = '' }, secrets: { token = '' } },
    notification,
  ) {
    const { title, url: link } = notification;
    const end = [detailsWithRunbookOf(notification), link].filter((part) => part !== null).join('\n');
    const room = 4_000 - end.length;
    const text = `${title}\n\n${messageText(notification, Math.max(leastChars, room - title.length - 2))}`;
    return jsonRequest(urlWith(url, `/bot${token}/sendMessage`), {
      chat_id: chat,
      text: `${clip(text, room)}\n\n${end}`,
      link_preview_options: { is_disabled: true },
    });
  },

  retryAfterMs: retryAfterInBody,
};
