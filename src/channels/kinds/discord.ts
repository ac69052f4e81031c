import {
  clip,
  colorOf,
  detailsOf,
  fitParts,
  type HttpKind,
  instructionsTitle,
  inUnits,
  jsonRequest,
  type OutgoingNotification,
  retryAfterInBody,
  runbookLinkOf,
  withoutLinks,
} from '../message.ts';

/** An embed has at most 6,000 characters in all: https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const runbook = runbookLinkOf(notification);
    const embed = {
      title: clip(withoutLinks(notification.title), 256),
      description: descriptionOf(notification),
      color: Number.parseInt(colorOf(notification).slice(1), 16),
      timestamp: new Date(notification.receivedAt).toISOString(),
      footer: { text: clip(detailsOf(notification), 1_000) },
      ...(notification.url !== null && { url: notification.url }),
      ...(runbook !== undefined && { fields: [{ name: 'Runbook', value: withoutLinks(runbook) }] }),
    };
    // A sender's text must not mention anybody.
    return jsonRequest(url, { embeds: [embed], allowed_mentions: { parse: [] } });
  },

  retryAfterMs: retryAfterInBody,
};

function descriptionOf(notification: OutgoingNotification): string {
  const title = `\n\n**${instructionsTitle}**\n`;
  const parts = {
    message: withoutLinks(notification.message),
    instructions: notification.instructions && withoutLinks(notification.instructions),
  };
  const { message, instructions } = fitParts(parts, 4_096 - title.length, inUnits);
  return instructions === undefined ? message : `${message}${title}${instructions}`;
}
