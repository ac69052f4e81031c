import {
  clip,
  detailsWithRunbookOf,
  type HttpKind,
  jsonRequest,
  retryAfterInBody,
  urlWith,
} from '../message.ts';

/** Plain text, so nothing in it is markup; at most 4,096 characters: https://core.telegram.org/bots/api#sendmessage */
export const telegram: HttpKind = {
  request(
    { settings: { url = 'https://api.telegram.org', chat = '' }, secrets: { token = '' } },
    notification,
  ) {
    const { title, message, url: link } = notification;
    const end = [detailsWithRunbookOf(notification), link].filter((part) => part !== null).join('\n');
    return jsonRequest(urlWith(url, `/bot${token}/sendMessage`), {
      chat_id: chat,
      text: `${clip(`${title}\n\n${message}`, 4_000 - end.length)}\n\n${end}`,
      link_preview_options: { is_disabled: true },
    });
  },

  retryAfterMs: retryAfterInBody,
};
