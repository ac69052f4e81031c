import { clip, type HttpKind, jsonRequest, originOf, urlWith } from './message.ts';

/** https://core.telegram.org/bots/api#sendmessage */
export const telegram: HttpKind = {
  request(
    { settings: { url = 'https://api.telegram.org', chat = '' }, secrets: { token = '' } },
    notification,
  ) {
    const { title, message, url: link } = notification;
    const end = [originOf(notification), link].filter((part) => part !== null).join('\n');
    return jsonRequest(urlWith(url, `/bot${token}/sendMessage`), {
      chat_id: chat,
      text: `${clip(`${title}\n\n${message}`, 4_000 - end.length)}\n\n${end}`,
      link_preview_options: { is_disabled: true },
    });
  },

  retryAfterMs({ body }) {
    const seconds = /"retry_after"\s*:\s*(\d{1,6})/.exec(body)?.[1];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  },
};
