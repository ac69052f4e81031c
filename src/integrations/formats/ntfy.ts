import { badRequest } from '#core/errors.ts';
import { type Answer, type Format, type Item, type Payload, type Stored, wordOf } from '../format.ts';
import { type JsonObject, joinTexts, labelsOfWords, objectAt, textOf } from '../payload.ts';

/** Publishing to a topic: the body is the message, the rest are headers or parameters. https://docs.ntfy.sh/publish/ */
export const ntfy: Format = {
  takesAnyText: 'always',
  read: (payload) => [itemOf(fromRequest(payload))],
  answer,
};

/** Publishing to the server itself: all of it is JSON. https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfyJson: Format = {
  read: ({ body }) => [itemOf(fromJson(objectAt(body)))],
  answer,
};

/** By number, as ntfy names them. */
const priorities = [
  { severity: 'min', level: 'info' },
  { severity: 'low', level: 'info' },
  { severity: 'default', level: 'info' },
  { severity: 'high', level: 'warning' },
  { severity: 'max', level: 'error' },
] as const;

/** The tags that ntfy's own documentation shows as emoji, and those of widespread senders. */
const emoji: Readonly<Record<string, string>> = {
  '+1': '👍️',
  '-1': '👎️',
  partying_face: '🥳',
  tada: '🎉',
  heavy_check_mark: '✔️',
  white_check_mark: '✅',
  loudspeaker: '📢',
  warning: '⚠️',
  rotating_light: '🚨',
  triangular_flag_on_post: '🚩',
  skull: '💀',
  facepalm: '🤦',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  cd: '💿',
  computer: '💻',
  red_circle: '🔴',
  orange_circle: '🟠',
  yellow_circle: '🟡',
  green_circle: '🟢',
  fire: '🔥',
  bell: '🔔',
  information_source: 'ℹ️',
  test_tube: '🧪',
};

interface Publication {
  readonly topic: string;
  readonly message: string | undefined;
  readonly title: string | undefined;
  readonly priority: string | undefined;
  readonly tags: readonly string[];
  readonly click: string | undefined;
  readonly attach: string | undefined;
  /** The name of a file that came as the body. */
  readonly file?: string | undefined;
  readonly sequence: string | undefined;
  readonly delay: string | undefined;
}

/** The header `Priority` of HTTP (RFC 9218), which proxies add: ntfy ignores it, too. */
const httpPriority = /^(?:u=\d,\s*(?:i|\d)|u=\d)$/;

function fromRequest({ body, header, query, params }: Payload): Publication {
  const lowered = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]));
  const headerOf = (name: string) => {
    const text = textOf(header(name));
    return name === 'priority' && text !== undefined && httpPriority.test(text) ? undefined : text;
  };
  const read = (...names: readonly string[]) =>
    names.map((name) => headerOf(name) ?? textOf(lowered.get(name))).find((text) => text !== undefined);
  const message = read('x-message', 'message', 'm')?.replaceAll('\\n', '\n');
  const title = read('x-title', 'title', 't');
  const attach = read('x-attach', 'attach', 'a');
  const name = read('x-filename', 'filename', 'file', 'f');
  const isText = typeof body === 'string';
  // The name of a link is that of its file, and the body is the message.
  const isFile = body !== undefined && (!isText || (name !== undefined && attach === undefined));
  if (!isText && isFile && (message ?? title ?? name) === undefined)
    throw badRequest(
      'the body is neither UTF-8 nor a file: a file needs the header Filename, Message or Title',
    );
  return {
    topic: topicOf(params.topic),
    message: isFile ? message : (textOf(body) ?? message),
    title,
    file: isFile ? (name ?? 'the file') : undefined,
    priority: read('x-priority', 'priority', 'prio', 'p'),
    tags: read('x-tags', 'tags', 'tag', 'ta')?.split(',') ?? [],
    click: read('x-click', 'click'),
    attach,
    sequence: read('x-sequence-id', 'sequence-id', 'sid'),
    delay: read('x-delay', 'delay', 'x-at', 'at', 'x-in', 'in'),
  };
}

function fromJson(body: JsonObject): Publication {
  return {
    topic: topicOf(body.topic),
    message: textOf(body.message),
    title: textOf(body.title),
    priority: textOf(body.priority),
    tags: Array.isArray(body.tags) ? body.tags.flatMap((tag) => textOf(tag) ?? []) : [],
    click: textOf(body.click),
    attach: textOf(body.attach),
    sequence: textOf(body.sequence_id),
    delay: textOf(body.delay),
  };
}

function topicOf(value: unknown): string {
  if (typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw badRequest('topic must have 1 to 64 of A-Z, a-z, 0-9, "_" and "-"');
}

function itemOf({
  topic,
  message,
  title,
  priority,
  tags,
  click,
  attach,
  file,
  sequence,
  delay,
}: Publication): Item {
  if (delay !== undefined) throw badRequest('delay is not supported: send it when it is to be shown');
  const names = tags.map((tag) => tag.trim()).filter((tag) => tag !== '');
  const signs = names.flatMap((tag) => (Object.hasOwn(emoji, tag) ? [emoji[tag]] : []));
  const words = names.filter((tag) => !Object.hasOwn(emoji, tag));
  return {
    title: [...signs, title ?? topic].join(' '),
    message: joinTexts([
      message ?? (file ? undefined : 'triggered'),
      file && `(${file.slice(0, 100)} was not kept)`,
      attach,
      words.length > 0 ? `Tags: ${words.join(', ')}` : undefined,
    ]),
    ...priorityOf(priority),
    source: topic,
    labels: labelsOfWords(names),
    key: sequence && `ntfy:${topic}:${sequence}`,
    url: [click, attach].find((link) => /^https?:/i.test(link ?? '')),
  };
}

function priorityOf(text = 'default'): Pick<Item, 'severity' | 'level'> {
  const word = wordOf(text) === 'urgent' ? 'max' : wordOf(text);
  const found = priorities.find(({ severity }, i) => severity === word || String(i + 1) === word);
  if (found) return found;
  throw badRequest('priority must be 1 to 5, or min, low, default, high, max or urgent');
}

function answer([stored]: readonly Stored[], { body, params }: Payload, now: number): Answer {
  if (!stored) throw new Error('a publication is one item');
  const { title, message } = stored.fields;
  const topic = params.topic || (body as JsonObject).topic;
  const time = Math.floor(now / 1000);
  return { status: 200, body: { id: stored.id, time, event: 'message', topic, title, message } };
}
