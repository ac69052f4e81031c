import {
  detailsWithRunbookOf,
  type HttpKind,
  jsonRequest,
  messageText,
  severityOf,
  urlWith,
} from '../message.ts';

const priorities = { success: 2, info: 4, warning: 6, error: 8, critical: 10 } as const;

/** https://gotify.net/docs/pushmsg */
export const gotify: HttpKind = {
  request({ settings: { url = '' }, secrets: { token = '' } }, notification) {
    const click =
      notification.url === null
        ? {}
        : { extras: { 'client::notification': { click: { url: notification.url } } } };
    const body = {
      title: notification.title,
      message: `${messageText(notification)}\n\n${detailsWithRunbookOf(notification)}`,
      priority: priorities[severityOf(notification)],
      ...click,
    };
    return jsonRequest(urlWith(url, '/message'), body, { 'x-gotify-key': token });
  },
};
