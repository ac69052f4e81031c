import { clipBytes, fitParts, inBytes, instructionsTitle } from '#core/routing/message-text.ts';
import {
  detailsOf,
  type HttpKind,
  jsonRequest,
  linksOf,
  severityOf,
  updateText,
  withoutLinks,
} from '../message.ts';

const colors = {
  success: 'good',
  info: 'accent',
  warning: 'warning',
  error: 'attention',
  critical: 'attention',
} as const;

/** Teams refuses requests of more than 28 KB. In JSON, line breaks and quotes take two bytes, and there is a title. */
const messageBytes = 10_000;

const text = (value: string, more: object = {}) => ({ type: 'TextBlock', text: value, wrap: true, ...more });

const card = (url: string, given: object) => {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    ...{ type: 'AdaptiveCard', version: '1.4' },
    ...given,
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return jsonRequest(url, { type: 'message', attachments: [{ contentType, contentUrl: null, content }] });
};

/** An adaptive card, as the workflow "Post to a channel when a webhook request is received" expects it. */
export const teams: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const { message, instructions } = fitParts(
      {
        message: withoutLinks(notification.message),
        instructions: notification.instructions && withoutLinks(notification.instructions),
      },
      ...([messageBytes, inBytes] as const),
    );
    return card(url, {
      body: [
        text(withoutLinks(notification.title), {
          ...{ size: 'Medium', weight: 'Bolder' },
          color: colors[severityOf(notification)],
        }),
        text(message),
        ...(instructions === undefined
          ? []
          : [text(instructionsTitle, { weight: 'Bolder', separator: true }), text(instructions)]),
        text(withoutLinks(detailsOf(notification)), { isSubtle: true, size: 'Small' }),
      ],
      actions: [
        { title: 'Open', url: notification.url ?? undefined },
        ...linksOf(notification).map(({ text: title, href }) => ({ title, url: href })),
      ].flatMap(({ title, url: target }) =>
        target === undefined ? [] : [{ type: 'Action.OpenUrl', title, url: target }],
      ),
    });
  },

  /** A workflow cannot change a message, so this is a short one of its own. */
  update: ({ secrets: { url = '' } }, notification, update) =>
    card(url, {
      body: [
        text(withoutLinks(notification.title), { weight: 'Bolder' }),
        text(clipBytes(withoutLinks(updateText(update)), messageBytes)),
      ],
    }),
};
