/**
 * Topics: the names of panels in the addresses of ntfy. A topic is made of the panel's name when the panel is registered, is unique
 * in its tenant, and never changes, so that renaming a panel cuts off no phone.
 */
import { hash } from 'node:crypto';
import type { PanelRecord } from './directory.ts';

/** As ntfy's clients allow. */
export const topicPattern = /^[A-Za-z0-9_-]{1,64}$/;
const topicChars = 64;

/** Paths of ntfy's own: its clients refuse these topics. */
export const reservedTopics: ReadonlySet<string> = new Set([
  ...['docs', 'static', 'file', 'app', 'metrics', 'account', 'settings', 'signup', 'login', 'v1'],
]);

export const isTopic = (text: string): boolean => topicPattern.test(text) && !reservedTopics.has(text);

/** The topic that a panel of this name gets if no other has it: "noc-east-wall" for "NOC east wall". */
export function topicOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, topicChars)
    .replace(/^-|-$/g, '');
  return slug === '' || reservedTopics.has(slug) ? `panel${slug && `-${slug}`}` : slug;
}

/** The first of `topic`, `topic-2`, `topic-3` … that is not taken. */
export function freeTopic(topic: string, taken: ReadonlySet<string>): string {
  if (!taken.has(topic)) return topic;
  for (let n = 2; ; n++) {
    const end = `-${n}`;
    const next = topic.slice(0, topicChars - end.length) + end;
    if (!taken.has(next)) return next;
  }
}

/** How the topics of the panels of phones begin that a person signed in with their account. */
export const signedInStart = (person: string): string => `gotify-${shortHash(person)}`;

/** The topic of such a panel: another one for each name of a phone. */
export const signedInTopic = (person: string, name: string): string =>
  signedInStart(person) + shortHash(name);

const shortHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 16);

interface Topics {
  readonly panels: number;
  readonly byTopic: ReadonlyMap<string, PanelRecord>;
}
const indexes = new WeakMap<ReadonlyMap<string, PanelRecord>, Topics>();

/** The panel of a topic; the id of a panel is a topic, too. Keyboards of phones begin with a capital: so `Ada` is `ada`, unless there is an `Ada`. */
export function findByTopic(
  panels: ReadonlyMap<string, PanelRecord>,
  topic: string,
): PanelRecord | undefined {
  let index = indexes.get(panels);
  // Panels that register are added to it.
  if (index?.panels !== panels.size) {
    const byTopic = new Map(panels);
    for (const panel of panels.values()) byTopic.set(panel.topic, panel);
    index = { panels: panels.size, byTopic };
    indexes.set(panels, index);
  }
  return index.byTopic.get(topic) ?? index.byTopic.get(topic.toLowerCase());
}
