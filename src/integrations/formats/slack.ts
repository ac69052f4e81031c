import { isPlainObject } from '#contract/plain-object.ts';
import { badRequest } from '#core/errors.ts';
import type { Format } from '../format.ts';
import { type JsonObject, joinTexts, objectAt, objectsAt, textOf } from '../payload.ts';

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
    const attachments = objectsAt(message.attachments ?? [], '/attachments');
    const blocks = objectsAt(message.blocks ?? [], '/blocks');
    const [first] = attachments;
    const ofBlocks = joinTexts(blocks.map((block) => textOfBlock(block)));
    const isHeadlineAlone = blocks.every((block) => block.type === 'header' || textOfBlock(block) === '');
    const header = blocks.find(({ type }) => type === 'header');
    const title = (header && textOfBlock(header)) || textOf(first?.title);
    const own = isHeadlineAlone ? [ofBlocks === title ? '' : ofBlocks, textOf(message.text)] : [ofBlocks];
    // Slack shows the text only where it cannot show the blocks.
    const text = joinTexts([...own, ...attachments.map(textOfAttachment)]) || ofBlocks;
    if (text === '') throw badRequest('the payload must have a text, blocks or attachments with a text');
    const severity = textOf(first?.color)?.toLowerCase() ?? 'message';
    return [
      {
        title: title === undefined ? undefined : plainText(title),
        message: plainText(text),
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
  const shown = joinTexts([
    textOf(pretext),
    textOf(title),
    textOf(text),
    ...(Array.isArray(fields) ? fields.map(textOfField) : []),
    ...(Array.isArray(blocks) ? blocks.map((block) => textOfBlock(block)) : []),
  ]);
  return shown || (textOf(fallback) ?? '');
}

function textOfField(field: unknown): string {
  const { title, value } = (field ?? {}) as JsonObject;
  return joinTexts([textOf(title), textOf(value)], ': ');
}

/** The fields of blocks and their elements that hold a text, or others that do. */
const inner = ['text', 'fields', 'elements', 'title', 'description', 'label', 'rows'];
/** The deepest elements that are read. A table has lists of rich text in its cells. */
const deepest = 10;

/** The text of a block or an element, whatever its type; buttons and pictures have none. */
function textOfBlock(block: unknown, depth = 0): string {
  if (typeof block === 'string') return block;
  if (depth > deepest) return '';
  if (Array.isArray(block)) return block.map((cell) => textOfBlock(cell, depth + 1)).join(' ');
  if (!isPlainObject(block)) return '';
  const { type, url, name, range, user_id, fallback } = block;
  if (type === 'actions') return '';
  if (type === 'emoji') return `:${textOf(name) ?? ''}:`;
  const parts = inner.flatMap((field) => {
    const value = block[field];
    if (Array.isArray(value)) return value.map((each) => textOfBlock(each, depth + 1));
    return value === undefined ? [] : [textOfBlock(value, depth + 1)];
  });
  if (type === 'link') {
    const target = textOf(url) ?? '';
    return [...parts, parts.length > 0 && target ? ` (${target})` : target].join('');
  }
  if (type === 'rich_text_list' || type === 'table') return parts.join('\n');
  if (typeof type === 'string' && /^rich_text_|^text$/.test(type)) return parts.join('');
  return joinTexts(parts) || (textOf(range, user_id, fallback) ?? '');
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
