import { clip, type HttpKind, jsonRequest, originOf, severityOf } from './message.ts';

const priorities = { success: 2, info: 3, warning: 4, error: 4, critical: 5 } as const;
const tags = {
  success: 'white_check_mark',
  info: 'information_source',
  warning: 'warning',
  error: 'rotating_light',
  critical: 'fire',
} as const;
/** A longer text becomes an attached file there. */
const messageChars = 1_000;

/** https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy: HttpKind = {
  request({ settings: { url = 'https://ntfy.sh', topic = '' }, secrets: { token } }, notification) {
    const severity = severityOf(notification);
    const body = {
      topic,
      title: notification.title,
      message: `${clip(notification.message, messageChars)}\n\n${originOf(notification)}`,
      priority: priorities[severity],
      tags: [tags[severity]],
      ...(notification.url !== null && { click: notification.url }),
    };
    return jsonRequest(url, body, token === undefined ? {} : { authorization: `Bearer ${token}` });
  },
};
