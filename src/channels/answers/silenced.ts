/** What Alertmanager answers about silences, by its API v2. What has another form is left out. */
import { parseBoundedJson } from '#core/limits/bounded-json.ts';

/** An alert that silences cover. */
export interface SilencedAlert {
  readonly fingerprint: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As Alertmanager writes it; another one for a new alert with the same labels. */
  readonly startsAt: string;
  /** When it was last sent to Alertmanager. */
  readonly updatedAt: string;
  /** The ids of the silences that cover it now. */
  readonly silences: readonly string[];
}

/** A silence that stands now. */
export interface ActiveSilence {
  readonly id: string;
  readonly createdBy: string | undefined;
  readonly comment: string | null;
  readonly endsAt: number;
}

const mostSilences = 20;
const mostLabels = 100;
const idForm = /^[\w-]{1,100}$/;
/** The latest time of a Date. */
const latestMs = 8.64e15;

type Item = Readonly<Record<string, unknown>>;

/** @throws Error when it is no list. */
export function readSilencedAlerts(body: string): readonly SilencedAlert[] {
  return itemsOf(body).flatMap(({ fingerprint, labels, startsAt, updatedAt, status }) => {
    const silencedBy = isItem(status) && Array.isArray(status.silencedBy) ? status.silencedBy : [];
    const silences = silencedBy.slice(0, mostSilences).filter(isId);
    if (!isId(fingerprint) || silences.length === 0) return [];
    const times = { startsAt: textOf(startsAt) ?? '', updatedAt: textOf(updatedAt) ?? '' };
    return { fingerprint, labels: textsOf(labels), ...times, silences };
  });
}

/** By their ids. @throws Error when it is no list. */
export function readActiveSilences(body: string): ReadonlyMap<string, ActiveSilence> {
  const found = new Map<string, ActiveSilence>();
  for (const { id, status, createdBy, comment, endsAt } of itemsOf(body)) {
    if (!isId(id) || !isItem(status) || status.state !== 'active') continue;
    const end = Date.parse(textOf(endsAt) ?? '');
    if (Number.isNaN(end)) continue;
    found.set(id, {
      ...{ id, createdBy: textOf(createdBy), comment: textOf(comment) ?? null },
      endsAt: Math.min(end, latestMs),
    });
  }
  return found;
}

function itemsOf(body: string): Item[] {
  const list = parseBoundedJson(body);
  if (!Array.isArray(list)) throw new SyntaxError('it is no list');
  return list.filter(isItem);
}

const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is string => typeof value === 'string' && idForm.test(value);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 2_000) : undefined;

function textsOf(value: unknown): Record<string, string> {
  const entries = isItem(value) ? Object.entries(value) : [];
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';
  return Object.fromEntries(entries.slice(0, mostLabels).filter(isText));
}
