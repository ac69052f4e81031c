import {
  clip,
  colorOf,
  detailsOf,
  type HttpKind,
  instructionsTitle,
  jsonRequest,
  runbookLinkOf,
  updateText,
} from '../message.ts';

/** The most characters of a block's text: beyond 3,000 Slack refuses the message. */
const textChars = 2_900;

/** Slack gives only these three characters a meaning. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
// Clipping may have cut an escape in two.
const clipEscaped = (text: string, most = textChars) => clip(escaped(text), most).replace(/&[a-z]*…$/, '…');
const targetOf = (url: string) => escaped(url).replaceAll('|', '%7C');

// Verbatim: `@here` and `#general` in a sender's text stay text.
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

/** An incoming webhook: https://api.slack.com/messaging/webhooks. It cannot change a message, so an update is a short one of its own. */
export const slack: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const title = escaped(notification.title);
    const target = targetOf(notification.url ?? '');
    const linked = `<${target}|${title}>`;
    const heading = target !== '' && linked.length < textChars ? linked : title;
    const message = clipEscaped(notification.message);
    const context = { type: 'context', elements: [{ type: 'plain_text', text: detailsOf(notification) }] };
    const runbook = runbookLinkOf(notification);
    const link = runbook === undefined ? [] : [section(`<${targetOf(runbook)}|Runbook>`)];
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
    const blocks = [section(`*${heading}*`), section(message), ...todo, ...link, context];
    return jsonRequest(url, { attachments: [{ color: colorOf(notification), fallback: title, blocks }] });
  },

  update({ secrets: { url = '' } }, notification, update) {
    const title = clipEscaped(notification.title, 300);
    const text = clipEscaped(updateText(update), 2_000);
    return jsonRequest(url, { text: `${title}: ${text}`, blocks: [section(`*${title}*\n${text}`)] });
  },
};
