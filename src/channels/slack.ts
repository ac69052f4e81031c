import { clip, colorOf, type HttpKind, jsonRequest, originOf } from './message.ts';

/** Only these three have a meaning there. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An incoming webhook: https://api.slack.com/messaging/webhooks */
export const slack: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const title = escaped(notification.title);
    const link = notification.url === null ? title : `<${escaped(notification.url)}|${title}>`;
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });
    const context = { type: 'context', elements: [{ type: 'plain_text', text: originOf(notification) }] };
    return jsonRequest(url, {
      attachments: [
        {
          color: colorOf(notification),
          fallback: title,
          blocks: [section(`*${link}*`), section(clip(escaped(notification.message), 2_900)), context],
        },
      ],
    });
  },
};
