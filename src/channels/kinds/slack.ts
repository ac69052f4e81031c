import { clip, instructionsTitle } from '#core/routing/message-text.ts';
import { answerData, buttonsFor } from '../buttons.ts';
import {
  type ChannelSetup,
  colorOf,
  detailsOf,
  type HttpKind,
  jsonRequest,
  linksOf,
  type OutgoingNotification,
  updateText,
} from '../message.ts';

/** The most characters of a block's text: beyond 3,000 Slack refuses the message. */
const textChars = 2_900;

/** Slack gives only these three characters a meaning. */
export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
// Clipping may have cut an escape in two.
const clipEscaped = (text: string, most = textChars) => clip(escaped(text), most).replace(/&[a-z]*…$/, '…');
const targetOf = (url: string) => escaped(url).replaceAll('|', '%7C');

// Verbatim: `@here` and `#general` in a sender's text stay text.
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

/** Buttons, with the secret that verifies their presses. */
function actionsOf(setup: ChannelSetup, notification: OutgoingNotification) {
  const elements = buttonsFor(setup, setup.secrets.signingSecret !== undefined, notification).map(
    ({ button, label }) => ({
      ...{ type: 'button', action_id: button, text: { type: 'plain_text', text: label } },
      value: answerData(button, setup.id, notification.id),
    }),
  );
  return elements.length === 0 ? [] : [{ type: 'actions', elements }];
}

/** `happened`: above all else. */
function attachmentOf(setup: ChannelSetup, notification: OutgoingNotification, happened = '') {
  const title = escaped(notification.title);
  const target = targetOf(notification.url ?? '');
  const linked = `<${target}|${title}>`;
  const heading = target !== '' && linked.length < textChars ? linked : title;
  const message = clipEscaped(notification.message);
  const context = { type: 'context', elements: [{ type: 'plain_text', text: detailsOf(notification) }] };
  const links = linksOf(notification).map(({ text, href }) => `<${targetOf(href)}|${text}>`);
  const link = links.length === 0 ? [] : [section(links.join(' · '))];
  const { instructions } = notification;
  const instructionsHeading = `*${instructionsTitle}*\n`;
  const todo =
    instructions === null
      ? []
      : [
          section(
            `${instructionsHeading}${clipEscaped(instructions, textChars - instructionsHeading.length)}`,
          ),
        ];
  const above = happened === '' ? [] : [section(happened)];
  const blocks = [
    ...above,
    ...[section(`*${heading}*`), section(message), ...todo, ...link, context],
    ...actionsOf(setup, notification),
  ];
  return { color: colorOf(notification), fallback: title, blocks };
}

/**
 * An incoming webhook: https://api.slack.com/messaging/webhooks. It cannot change a message, so an update is a short one of its own. The
 * address that comes with a press can: https://docs.slack.dev/interactivity/handling-user-interaction
 */
export const slack: HttpKind = {
  request: (setup, notification) =>
    jsonRequest(setup.secrets.url ?? '', { attachments: [attachmentOf(setup, notification)] }),

  update(setup, notification, update) {
    const { url = '' } = setup.secrets;
    const text = clipEscaped(updateText(update), 2_000);
    if (update.reference !== null)
      return jsonRequest(update.reference, {
        ...{ replace_original: true, attachments: [attachmentOf(setup, notification, text)] },
      });
    const title = clipEscaped(notification.title, 300);
    return jsonRequest(url, { text: `${title}: ${text}`, blocks: [section(`*${title}*\n${text}`)] });
  },
};
