import { clip, fitParts, instructionsTitle, inUnits } from '#core/routing/message-text.ts';
import {
  colorOf,
  detailsOf,
  type HttpKind,
  jsonRequest,
  linksOf,
  type OutgoingNotification,
  retryAfterInBody,
  updateText,
  withoutLinks,
} from '../message.ts';

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const unknownMessage = 10_008;

/** An embed has at most 6,000 characters in all: https://discord.com/developers/docs/resources/webhook#execute-webhook */
export const discord: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    // Only then does the answer have the message.
    const target = new URL(url);
    target.searchParams.set('wait', 'true');
    return jsonRequest(target.href, messageOf(notification));
  },

  /** Changes the message: https://discord.com/developers/docs/resources/webhook#edit-webhook-message */
  update({ secrets: { url = '' } }, notification, update) {
    if (update.reference === null) return undefined;
    const target = new URL(url);
    target.pathname = `${target.pathname.replace(/\/+$/, '')}/messages/${encodeURIComponent(update.reference)}`;
    const content = `**${clip(withoutLinks(updateText(update)), 1_900)}**`;
    return jsonRequest(target.href, { content, ...messageOf(notification) }, {}, 'PATCH');
  },

  referenceOf: ({ body }) => /^\d{1,30}$/.exec(String(readJson(body)?.id))?.[0],
  retryAfterMs: retryAfterInBody,

  // Somebody has deleted the message. Other codes of the same status are about the webhook.
  outcomeOf: ({ status, body }) =>
    status === 404 && readJson(body)?.code === unknownMessage
      ? { outcome: 'failed', isFinal: true }
      : undefined,
};

function readJson(body: string): { readonly id?: unknown; readonly code?: unknown } | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function messageOf(notification: OutgoingNotification) {
  const links = linksOf(notification);
  const embed = {
    title: clip(withoutLinks(notification.title), 256),
    description: descriptionOf(notification),
    color: Number.parseInt(colorOf(notification).slice(1), 16),
    timestamp: new Date(notification.receivedAt).toISOString(),
    footer: { text: clip(detailsOf(notification), 1_000) },
    ...(notification.url !== null && { url: notification.url }),
    ...(links.length > 0 && {
      fields: links.map(({ text, href }) => ({ name: text, value: withoutLinks(href) })),
    }),
  };
  // A sender's text must not mention anybody.
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

function descriptionOf(notification: OutgoingNotification): string {
  const title = `\n\n**${instructionsTitle}**\n`;
  const parts = {
    message: withoutLinks(notification.message),
    instructions: notification.instructions && withoutLinks(notification.instructions),
  };
  const { message, instructions } = fitParts(parts, 4_096 - title.length, inUnits);
  return instructions === undefined ? message : `${message}${title}${instructions}`;
}
