/** Reads a reply to the mail of a channel: what the person wants, and who it is. */
import { decodeWords } from 'postal-mime';
import type { ChannelAnswer } from '#core/channels/answers.ts';
import { readMail } from './mail.ts';

export interface MailReply extends Pick<ChannelAnswer, 'kind' | 'note'> {
  /** As the mail says. */
  readonly from: string;
}

/** null: a program has sent it, such as one that says that somebody is away. */
export async function readReply(bytes: Buffer): Promise<MailReply | null> {
  const { mail, header, text } = await readMail(bytes);
  if (isAutomatic(header, mail.subject ?? '')) return null;
  const from = mail.from?.name || mail.from?.address || '';
  return { from: decodeWords(from), ...readText(text) };
}

const programs = ['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-failed-recipients'];
const awaySubject =
  /^(?:auto(?:matic)?[ -]?reply|auto:|out of (?:the )?office|automatische antwort|abwesen|abwesenheit|undeliver|unzustellbar|delivery status)/i;

function isAutomatic(header: (name: string) => string | undefined, subject: string): boolean {
  const submitted = header('auto-submitted')?.toLowerCase() ?? 'no';
  return (
    !/^no\b/.test(submitted) ||
    /^(?:bulk|junk|list|auto_reply)\b/i.test(header('precedence') ?? '') ||
    /^multipart\/report\b/i.test(header('content-type') ?? '') ||
    programs.some((name) => header(name) !== undefined) ||
    awaySubject.test(subject)
  );
}

const words: Readonly<Record<string, ChannelAnswer['kind']>> = {
  ...{ acknowledge: 'acknowledge', ack: 'acknowledge', acknowledged: 'acknowledge' },
  ...{ quittieren: 'acknowledge', quittiert: 'acknowledge' },
  ...{ shelve: 'shelve', shelved: 'shelve', zurückstellen: 'shelve', zurückgestellt: 'shelve' },
  ...{ clear: 'clear', cleared: 'clear', erledigen: 'clear', erledigt: 'clear' },
};

/** A text acknowledges and is the note, unless it begins with one of the words, alone on its line or before a comma or the like. */
export function readText(text: string): Pick<ChannelAnswer, 'kind' | 'note'> {
  const own = withoutQuoted(text);
  const [first = '', word = ''] = /^(\p{L}+)\s*(?:[,.:;!]+|[–-]\s|\n|$)\s*/u.exec(own) ?? [];
  const kind = Object.hasOwn(words, word.toLowerCase()) ? words[word.toLowerCase()] : undefined;
  const note = kind ? own.slice(first.length) : own;
  return { kind: kind ?? 'acknowledge', note: note.trim() || null };
}

/** The most characters of a reply that are looked at. */
const mostChars = 20_000;
/** Programs write one of these above the mail that they quote, or above a signature. */
const ends = [
  /^-{2,} ?(?:original message|ursprüngliche nachricht|forwarded message|weitergeleitete nachricht)\b/i,
  /^_{10,}\s*$/,
  /^-- ?$/,
  /^(?:from|von): .*\S/i,
  /^(?:sent from my|get outlook for|gesendet von|von meinem .* gesendet|diese nachricht wurde von meinem)\b/i,
];
const wrote = /^(?:on|am|le|el)\b.{0,400}\b(?:wrote|schrieb\b.{0,200})\s?:$/i;

/** What the person wrote above or below what is quoted. */
function withoutQuoted(text: string): string {
  const lines = text.slice(0, mostChars).replaceAll('\r', '').split('\n');
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] as string).trim();
    const [two, isTwo] = [`${line} ${lines[at + 1]?.trim() ?? ''}`, !wrote.test(line)];
    if (wrote.test(line) || (/^(?:on|am)\b/i.test(line) && wrote.test(two))) {
      if (isTwo) at += 1;
      // Mails of HTML do not mark what they quote. Only below marked lines somebody may have written something.
      const next = lines.slice(at + 1).find((each) => each.trim() !== '');
      if (kept.join('').trim() !== '' || !next?.trimStart().startsWith('>')) break;
      continue;
    }
    if (ends.some((end) => end.test(line))) break;
    if (!line.startsWith('>')) kept.push(line);
  }
  return kept.join('\n').trim();
}
