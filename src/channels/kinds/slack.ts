import {
  clip,
  colorOf,
  detailsOf,
  type HttpKind,
  instructionsTitle,
  jsonRequest,
  runbookLinkOf,
} from '../message.ts';

/** The most characters of a block's text: beyond 3,000 Slack refuses the message. */
const textChars = 2_900;

/** Slack gives only these three characters a meaning. */
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
// Clipping may have cut an escape in two.
const clipEscaped = (text: string, most = textChars) => clip(escaped(text), most).replace(/&[a-z]*…$/, '…');
const targetOf = (url: string) => escaped(url).replaceAll('|', '%7C');

/** An incoming webhook: https://api.slack.com/messaging/webhooks */
export const slack: HttpKind = {
  request({ secrets: { url = '' } }, notification) {
    const title = escaped(notification.title);
    const target = targetOf(notification.url ?? '');
    const linked = `<${target}|${title}>`;
    const heading = target !== '' && linked.length < textChars ? linked : title;
    const message = clipEscaped(notification.message);
    // Verbatim: `@here` and `#general` in a sender's text stay text.
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
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
};
