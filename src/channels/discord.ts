import { clip, colorOf, type HttpKind, jsonRequest, originOf } from './message.ts';

/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const embed = {
      title: clip(notification.title, 256),
      description: clip(notification.message, 4_096),
      color: Number.parseInt(colorOf(notification).slice(1), 16),
      timestamp: new Date(notification.receivedAt).toISOString(),
      footer: { text: clip(originOf(notification), 2_048) },
      ...(notification.url !== null && { url: notification.url }),
    };
    // Nobody is called by what a sender wrote.
    return jsonRequest(url, { embeds: [embed], allowed_mentions: { parse: [] } });
  },
};
