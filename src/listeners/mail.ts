/** Reads a mail: its subject, and the beginning of its text. */
import PostalMime from 'postal-mime';
import { limits } from '#contract/limits.ts';
import type { Item } from '#integrations/format.ts';
import { decodeEntities } from './html-entities.ts';

/**
 * How much of a mail is read. Parsing blocks the event loop, and takes time for each line and part. The text precedes the
 * attachments.
 */
const bytesRead = 256 * 1024;
const linesRead = 5_000;
/** The same for HTML, which is used if there is no other text. */
const htmlChars = 200_000;

/** Collects the beginning of a mail from a stream. */
export class MailStart {
  readonly #parts: Buffer[] = [];
  #bytes = 0;

  push(part: Buffer): void {
    if (this.#bytes < bytesRead) this.#parts.push(part.subarray(0, bytesRead - this.#bytes));
    this.#bytes += part.length;
  }

  get bytes(): Buffer {
    const start = Buffer.concat(this.#parts);
    let end = -1;
    for (let line = 0; line < linesRead; line++) {
      end = start.indexOf(0x0a, end + 1);
      if (end < 0) return start;
    }
    return start.subarray(0, end + 1);
  }
}

/** The sender's priority determines the level. */
export async function itemOfMail(bytes: Buffer): Promise<Item> {
  const mail = await PostalMime.parse(new Uint8Array(bytes), {
    maxNestingDepth: 20,
    // A forwarded mail is read, but not what was forwarded in it: each level is parsed once more.
    maxRfc822NestingDepth: 1,
    maxHeadersSize: 64 * 1024,
  });
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value?.trim();
  const priority = /^[1-5]/.exec(header('x-priority') ?? '')?.[0];
  const importance = header('importance')?.toLowerCase();
  const severity =
    header('x-level')?.toLowerCase() ??
    (priority === '1' || priority === '2' || importance === 'high' ? 'high' : 'message');
  const text = mail.text?.trim() || textOfHtml(mail.html ?? '');
  return {
    title: mail.subject || mail.from?.address || 'Email',
    message: text.slice(0, 2 * limits.messageChars),
    severity,
    level:
      limits.levelPattern.test(severity) && header('x-level')
        ? severity
        : severity === 'high'
          ? 'error'
          : 'info',
    key: header('x-key'),
    source: header('x-host'),
    url: header('x-url'),
    identity: mail.messageId,
  };
}

/** Approximate: mail without a plain text part is rare. */
export function textOfHtml(html: string): string {
  return decodeEntities(withoutTags(html.slice(0, htmlChars)))
    .replace(/\n\s*\n\s*/g, '\n\n')
    .trim();
}

/** One pass, because regular expressions take quadratic time where tags are not closed. */
function withoutTags(html: string): string {
  const ends = new Map(
    ['style', 'script', 'head'].map((name) => [name, new RegExp(`</${name}[^<>]*>`, 'gi')]),
  );
  let text = '';
  let at = 0;
  for (;;) {
    const from = html.indexOf('<', at);
    const to = from < 0 ? -1 : html.indexOf('>', from);
    if (to < 0) return text + html.slice(at);
    text += html.slice(at, from);
    at = to + 1;
    const tag = html.slice(from + 1, Math.min(from + 12, to));
    if (/^(?:br|\/p|\/div|\/tr|\/h\d|\/li)\b/i.test(tag)) text += '\n';
    else if (/^t[dh]\b/i.test(tag) && !' \n'.includes(text.at(-1) ?? '')) text += ' ';
    const name = /^\w+/.exec(tag)?.[0].toLowerCase() ?? '';
    const end = ends.get(name);
    if (!end) continue;
    end.lastIndex = at;
    // If one has no end, no later one has.
    if (end.test(html)) at = end.lastIndex;
    else ends.delete(name);
  }
}
