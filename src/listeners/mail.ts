/** Reads a mail: its subject, and the beginning of its text. */
import PostalMime, { decodeWords, type Email } from 'postal-mime';
import { limits } from '#contract/limits.ts';
import type { Item } from '#integrations/format.ts';
import { labelsOfWords } from '#integrations/payload.ts';

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

interface ReadMail {
  readonly mail: Email;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
}

/** A mail that cannot be parsed has its raw body as the text. */
export async function readMail(sent: Buffer): Promise<ReadMail> {
  const { head, body: sentBody } = splitMail(sent);
  const body = Buffer.concat(
    partsOf(head, sentBody).map((part, i) =>
      namesCharset.test(part.toString('latin1')) || (i === 0 && namesCharset.test(head))
        ? part
        : Buffer.from(decode(part)),
    ),
  );
  const bytes = Buffer.concat([Buffer.from(head), Buffer.from('\r\n\r\n'), body]);
  const mail = await parse(bytes).catch(() => parse(Buffer.from(withoutContent(head))));
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value?.trim();
  return { mail, header, text: textOfMail(mail) ?? decode(body).trim() };
}

/** The sender's priority determines the level. */
export async function itemOfMail(sent: Buffer): Promise<Item> {
  const { mail, header, text } = await readMail(sent);
  const priority = /^[1-5]/.exec(header('x-priority') ?? '')?.[0];
  const importance = header('importance')?.toLowerCase();
  const severity =
    header('x-level')?.toLowerCase() ??
    (priority === '1' || priority === '2' || importance === 'high' ? 'high' : 'message');
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
    labels: labelsOfWords(decodeWords(header('x-labels') ?? '').split(',')),
    identity: /[^<>\s]/.test(mail.messageId ?? '') ? mail.messageId : undefined,
  };
}

const parse = (bytes: Buffer) =>
  PostalMime.parse(new Uint8Array(bytes), {
    maxNestingDepth: 20,
    // A forwarded mail is read, but not what was forwarded in it: each level is parsed once more.
    maxRfc822NestingDepth: 1,
    maxHeadersSize: 64 * 1024,
  });

/** In the header of the mail, or of one of its parts. */
const namesCharset = /^content-type:[^\n]*(?:\n[ \t][^\n]*)*charset/im;

/** The parts of a body with their headers and the boundaries before them; the first one is what precedes all boundaries. */
function partsOf(head: string, body: Buffer): Buffer[] {
  const text = body.toString('latin1');
  const named = `${head}\n${text}`.matchAll(/\bboundary *= *(?:"([^"\r\n]+)"|([^\s;"]+))/gi);
  const boundaries = new Set(Array.from(named, ([, quoted, plain]) => `--${quoted ?? plain}`));
  if (boundaries.size === 0) return [body];
  const starts = [0];
  for (let at = 0; at < text.length; at = text.indexOf('\n', at) + 1 || text.length) {
    const line = text.slice(at, text.indexOf('\n', at) + 1 || undefined).trimEnd();
    if (boundaries.has(line) || boundaries.has(line.replace(/--$/, ''))) starts.push(at);
  }
  return starts.map((start, i) => body.subarray(start, starts[i + 1]));
}

const withoutContent = (head: string) => head.slice(0, 32_000).replace(/^content-/gim, 'x-content-');

/** The text, that of the HTML, or that of an attachment; undefined where a mail has none of them. */
function textOfMail({ text, html, attachments }: Email): string | undefined {
  const found = text?.trim() || textOfHtml(html ?? '');
  if (found) return found;
  const file = attachments.find(({ mimeType }) => /^text\b/.test(mimeType));
  if (file) {
    const content = decode(Buffer.from(file.content as ArrayBuffer)).trim();
    return file.mimeType === 'text/html' ? textOfHtml(content) : content;
  }
  return text !== undefined || html !== undefined || attachments.length > 0 ? '' : undefined;
}

const headerLine = /^(?:[!-9;-~]+[ \t]*:|[ \t]+\S|>?From )/;
const usualHeader = /^(?:from|to|subject|date|message-id|received|mime-version|content-[a-z-]+):/i;

/** The header as text, and the body. Where no empty line is between them, the body begins at the first line that is no header. */
function splitMail(bytes: Buffer): { head: string; body: Buffer } {
  let at = 0;
  let end: number | undefined;
  while (at < bytes.length) {
    const next = bytes.indexOf(0x0a, at) + 1 || bytes.length;
    const line = bytes.toString('latin1', at, next).trimEnd();
    if (line === '')
      return { head: decodeHead(bytes.subarray(0, end ?? at)), body: bytes.subarray(end ?? next) };
    if (end === undefined && (!headerLine.test(line) || (at === 0 && /^\s/.test(line)))) end = at;
    // One broken line within a header does not end it.
    else if (end !== undefined && usualHeader.test(line)) end = undefined;
    at = next;
  }
  return { head: decodeHead(bytes.subarray(0, end ?? at)), body: bytes.subarray(end ?? at) };
}

/** UTF-8, or else in the charset that it names for the body, or in Latin-1. */
function decodeHead(head: Buffer): string {
  const latin1 = head.toString('latin1');
  return decode(
    head,
    /^content-type:[^\n]*(?:\n[ \t][^\n]*)*charset="?([\w-]{1,40})/im.exec(latin1)?.[1],
  ).trimEnd();
}

function decode(bytes: Buffer, charset = 'windows-1252'): string {
  for (const name of ['utf-8', charset])
    try {
      // The end may be cut off within a character.
      return new TextDecoder(name, { fatal: true }).decode(bytes, { stream: true });
    } catch {}
  return new TextDecoder('windows-1252').decode(bytes);
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

/** The character references of HTML that mails contain: numbers, and all names of HTML 4. */

/** From U+00A0 to U+00FF. */
const latin1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN
szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute
ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

/** From U+0391 to U+03C9. */
const greek = `Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi
Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon
phi chi psi omega`;

/** Each with its name. */
const signs = `ŒOElig œoelig ŠScaron šscaron ŸYuml ƒfnof ˆcirc ˜tilde ϑthetasym ϒupsih ϖpiv –ndash —mdash ‘lsquo ’rsquo ‚sbquo “ldquo
”rdquo „bdquo †dagger ‡Dagger •bull …hellip ‰permil ′prime ″Prime ‹lsaquo ›rsaquo ‾oline ⁄frasl €euro ℑimage ℘weierp ℜreal ™trade
ℵalefsym ←larr ↑uarr →rarr ↓darr ↔harr ↵crarr ⇐lArr ⇑uArr ⇒rArr ⇓dArr ⇔hArr ∀forall ∂part ∃exist ∅empty ∇nabla ∈isin ∉notin ∋ni
∏prod ∑sum −minus ∗lowast √radic ∝prop ∞infin ∠ang ∧and ∨or ∩cap ∪cup ∫int ∴there4 ∼sim ≅cong ≈asymp ≠ne ≡equiv ≤le ≥ge ⊂sub ⊃sup
⊄nsub ⊆sube ⊇supe ⊕oplus ⊗otimes ⊥perp ⋅sdot ⌈lceil ⌉rceil ⌊lfloor ⌋rfloor ⟨lang ⟩rang ◊loz ♠spades ♣clubs ♥hearts ♦diams ✓check
✗cross ☎phone ★starf ☆star`;

const characters: ReadonlyMap<string, string> = new Map([
  ...latin1.split(/\s+/).map((name, i) => [name, String.fromCodePoint(0xa0 + i)] as const),
  ...greek.split(/\s+/).map((name, i) => [name, String.fromCodePoint(0x391 + i)] as const),
  ...signs.split(/\s+/).map((pair) => [pair.slice(1), pair.slice(0, 1)] as const),
  ...Object.entries({
    nbsp: ' ',
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
  }),
]);

/** HTML reads the numbers 128 to 159 as characters of this encoding. */
const windows = new TextDecoder('windows-1252');

/** A reference that is unknown or stands for no character is left as it is. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z0-9]{1,7}));/gi,
    (reference, hex, decimal, name) => {
      if (name !== undefined) return characters.get(name) ?? reference;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (code >= 0x80 && code <= 0x9f) return windows.decode(Uint8Array.of(code));
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).replace('\u00a0', ' ') : reference;
    },
  );
}
