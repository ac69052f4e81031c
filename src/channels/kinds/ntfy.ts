import {
  clipBytes,
  detailsWithRunbookOf,
  type HttpKind,
  inBytes,
  jsonRequest,
  messageText,
  severityOf,
} from '../message.ts';

const priorities = { success: 2, info: 3, warning: 4, error: 4, critical: 5 } as const;
const tags = {
  success: 'white_check_mark',
  info: 'information_source',
  warning: 'warning',
  error: 'rotating_light',
  critical: 'fire',
} as const;
/** Together with the lines below it under 4,096 bytes: ntfy turns a longer text into an attached file. */
const messageBytes = 3_000;
const detailsBytes = 1_000;

/** https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy: HttpKind = {
  request({ settings: { url = 'https://ntfy.sh', topic = '' }, secrets: { token } }, notification) {
    const severity = severityOf(notification);
    const body = {
      topic,
      title: notification.title,
      message: `${messageText(notification, messageBytes, inBytes)}\n\n${clipBytes(detailsWithRunbookOf(notification), detailsBytes)}`,
      priority: priorities[severity],
      tags: [tags[severity]],
      ...(notification.url !== null && { click: notification.url }),
    };
    return jsonRequest(
      new URL('/', url).href,
      body,
      token === undefined ? {} : { authorization: `Bearer ${token}` },
    );
  },
};
