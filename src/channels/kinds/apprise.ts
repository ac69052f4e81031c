import { detailsWithRunbookOf, type HttpKind, jsonRequest, messageText, severityOf } from '../message.ts';

const types = {
  success: 'success',
  info: 'info',
  warning: 'warning',
  error: 'failure',
  critical: 'failure',
} as const;

/** The Apprise API, with a stored configuration (`/notify/KEY`) or with `urls`: https://github.com/caronc/apprise-api */
export const apprise: HttpKind = {
  request({ settings: { url = '', tag }, secrets: { urls } }, notification) {
    return jsonRequest(url, {
      title: notification.title,
      body: `${messageText(notification)}\n\n${detailsWithRunbookOf(notification)}`,
      type: types[severityOf(notification)],
      format: 'text',
      ...(tag !== undefined && { tag }),
      ...(urls !== undefined && { urls }),
    });
  },

  outcomeOf(status) {
    if (status === 204) return { outcome: 'retry', answer: 'there is no configuration with this key' };
    // 424: one of several services failed. A retry would send a duplicate to the others.
    return status === 424 ? { outcome: 'failed' } : undefined;
  },
};
