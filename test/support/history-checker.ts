/** Checks a history afterwards: compares what senders sent with what the service recorded and what panels received. */

/** A notification from its sender's side. Names are unique: `<writer>-<n>`. All times are from one clock. */
export interface Sent {
  readonly name: string;
  readonly sentAt: number;
  /** When the 200 arrived; null without one (no answer, or an error). */
  readonly acknowledgedAt: number | null;
  /** The id in that answer. */
  readonly id: string | null;
}

/** An entry of the log as the service returns it. `name` is null for an entry that is no notification. */
export interface Recorded {
  readonly position: number;
  readonly name: string | null;
  readonly id: string;
}

/** What one panel was sent, in order of arrival, over all its connections. */
export interface PanelLog {
  readonly panel: string;
  /** It must have received everything after this position … */
  readonly from: number;
  /** … up to this one. */
  readonly to: number;
  readonly seen: readonly { readonly position: number; readonly name: string | null }[];
}

export interface Verdict {
  /** Acknowledged, and recorded once with the acknowledged id. */
  readonly ok: number;
  /** Never acknowledged: may be recorded or not. */
  readonly unknown: number;
  readonly unknownRecorded: number;
  /** Acknowledged, and absent. */
  readonly lost: readonly string[];
  /** Recorded, and never sent. */
  readonly phantom: readonly string[];
  /** Recorded more than once. */
  readonly repeated: readonly string[];
  /** Everything else that breaks a promise, in words. */
  readonly otherProblems: readonly string[];
}

/**
 * Checks a whole log. `history` contains every entry after position `from`, in any order. Positions must ascend by exactly one,
 * and a notification acknowledged before another was sent must precede it.
 */
export function checkHistory(
  sent: readonly Sent[],
  history: readonly Recorded[],
  panels: readonly PanelLog[] = [],
  from = 0,
): Verdict {
  const log = [...history].sort((a, b) => a.position - b.position);
  const byName = new Map<string, Recorded[]>();
  for (const entry of log) {
    if (entry.name === null) continue;
    const same = byName.get(entry.name);
    if (same) same.push(entry);
    else byName.set(entry.name, [entry]);
  }
  const known = new Map(sent.map((each) => [each.name, each]));
  const acknowledged = sent.filter(({ acknowledgedAt }) => acknowledgedAt !== null);
  const unknown = sent.filter(({ acknowledgedAt }) => acknowledgedAt === null);
  const lost = acknowledged.filter(({ name }) => !byName.has(name)).map(({ name }) => name);
  const repeated = [...byName].filter(([, entries]) => entries.length > 1).map(([name]) => name);
  return {
    ok: acknowledged.filter(({ name, id }) => {
      const entries = byName.get(name) ?? [];
      return entries.length === 1 && entries[0]?.id === id;
    }).length,
    unknown: unknown.length,
    unknownRecorded: unknown.filter(({ name }) => byName.has(name)).length,
    lost,
    phantom: [...byName.keys()].filter((name) => !known.has(name)),
    repeated,
    otherProblems: [
      ...(known.size === sent.length ? [] : ['a sender used a name twice']),
      ...positionProblems(log, from),
      ...idProblems(acknowledged, byName),
      ...orderProblems(log, known),
      ...panels.flatMap((panel) => panelProblems(panel, log)),
    ],
  };
}

/** The problems of a verdict, one line each; empty if there are none. */
export function problemsOf({ lost, phantom, repeated, otherProblems }: Verdict): string[] {
  const named = (what: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${names.length} ${what}: ${names.slice(0, 5).join(', ')}`];
  return [
    ...named('lost', lost),
    ...named('phantom', phantom),
    ...named('repeated', repeated),
    ...otherProblems.slice(0, 20),
  ];
}

function positionProblems(log: readonly Recorded[], from: number): string[] {
  const problems: string[] = [];
  let expected = from + 1;
  for (const { position } of log) {
    if (position !== expected) problems.push(`position ${position} stands where ${expected} should`);
    expected = position + 1;
  }
  return problems;
}

function idProblems(
  acknowledged: readonly Sent[],
  byName: ReadonlyMap<string, readonly Recorded[]>,
): string[] {
  return acknowledged.flatMap(({ name, id }) => {
    const entries = byName.get(name);
    if (!entries || entries.some((entry) => entry.id === id)) return [];
    return [`${name} was answered with the id ${id} and recorded with ${entries[0]?.id}`];
  });
}

/** Checks real-time order: no entry precedes one that was acknowledged before the entry was sent. */
function orderProblems(log: readonly Recorded[], known: ReadonlyMap<string, Sent>): string[] {
  const problems: string[] = [];
  let earliest: Sent | undefined;
  for (const { name } of log.toReversed()) {
    const one = name === null ? undefined : known.get(name);
    if (!one) continue;
    const acknowledgedAt = earliest?.acknowledgedAt ?? Number.POSITIVE_INFINITY;
    if (acknowledgedAt < one.sentAt)
      problems.push(`${one.name} stands before ${earliest?.name}, which was acknowledged before it was sent`);
    if (one.acknowledgedAt !== null && one.acknowledgedAt < acknowledgedAt) earliest = one;
  }
  return problems;
}

/** Checks that a panel received a contiguous range of history in order, without gaps and repeats. */
function panelProblems({ panel, from, to, seen }: PanelLog, log: readonly Recorded[]): string[] {
  const names = new Map(log.map(({ position, name }) => [position, name]));
  let expected = from + 1;
  for (const { position, name } of seen) {
    if (position !== expected)
      return [`${panel} got position ${position} where ${expected} should have come`];
    if (names.get(position) !== name)
      return [`${panel} got ${name} at position ${position}, where history has ${names.get(position)}`];
    expected += 1;
  }
  return expected > to ? [] : [`${panel} got nothing after position ${expected - 1}, and ${to} was there`];
}
