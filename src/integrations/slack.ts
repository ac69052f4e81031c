import { badRequest } from '#core/errors.ts';
import type { Format } from './format.ts';
import { type JsonObject, objectAt, objectsAt, paragraphs, textOf } from './payload-values.ts';

/** Slack has names for some colours; most senders write others, such as `#d63232`. */
function levelOfColor(color: string): string {
  if (color === 'good') return 'success';
  if (color === 'warning') return 'warning';
  if (color === 'danger') return 'error';
  const [, red, green, blue] = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(color) ?? [];
  if (!red || !green || !blue) return 'info';
  const [r, g, b] = [red, green, blue].map((part) => Number.parseInt(part, 16)) as [number, number, number];
  if (b >= Math.max(r, g) || Math.max(r, g) - Math.min(r, g, b) < 64) return 'info';
  if (g > r) return 'success';
  return g - b > (r - b) / 2.5 ? 'warning' : 'error';
}

/** Incoming webhooks of Slack, as JSON or as the field `payload` of a form: https://api.slack.com/messaging/webhooks */
export const slack: Format = {
  read({ body }) {
    const message = objectAt(body);
    const attachments =
      message.attachments === undefined ? [] : objectsAt(message.attachments, '/attachments');
    const blocks = message.blocks === undefined ? [] : objectsAt(message.blocks, '/blocks');
    const [first] = attachments;
    const ofBlocks = paragraphs(blocks.map(textOfBlock));
    const text = paragraphs([
      // Slack shows the text only where it cannot show the blocks.
      ofBlocks || textOf(message.text),
      ...attachments.map(textOfAttachment),
    ]);
    if (text === '') throw badRequest('the payload must have a text, blocks or attachments with a text');
    const plain = plainText(text);
    const header = blocks.find(({ type }) => type === 'header');
    const title = textOf(first?.title) ?? (header && textOfBlock(header));
    const severity = textOf(first?.color)?.toLowerCase() ?? 'message';
    return [
      {
        title: title === undefined ? undefined : plainText(title),
        message: plain,
        severity,
        level: levelOfColor(severity),
        url: textOf(first?.title_link),
      },
    ];
  },
  answer: () => ({ status: 200, body: 'ok' }),
};

function textOfAttachment(attachment: JsonObject): string {
  const { pretext, title, text, fallback, fields, blocks } = attachment;
  const shown = paragraphs([
    textOf(pretext),
    textOf(title),
    textOf(text),
    ...(Array.isArray(fields) ? fields.map(textOfField) : []),
    ...(Array.isArray(blocks) ? objectsAt(blocks, '/attachments/blocks').map(textOfBlock) : []),
  ]);
  return shown || (textOf(fallback) ?? '');
}

function textOfField(field: unknown): string {
  const { title, value } = (field ?? {}) as JsonObject;
  return [textOf(title), textOf(value)].filter((each) => each !== undefined).join(': ');
}

/** The text of headers, sections and contexts; other blocks have none. */
function textOfBlock({ text, fields, elements }: JsonObject): string {
  const parts = [
    text,
    ...(Array.isArray(fields) ? fields : []),
    ...(Array.isArray(elements) ? elements : []),
  ];
  return paragraphs(
    parts.map((part) => textOf(part) ?? textOf((part as JsonObject | null | undefined)?.text)),
  );
}

/** Without Slack's markup of links and its escapes. */
function plainText(text: string): string {
  return text
    .replace(/<([^<>|\s]+)\|([^<>]*)>/g, '$2 ($1)')
    .replace(/<((?:https?|mailto):[^<>|\s]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
