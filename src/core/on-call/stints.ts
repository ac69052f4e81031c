/** Stints: what rotas and calendars come to. */

/** Somebody is on call from one time to another. */
export interface Stint {
  readonly from: number;
  readonly until: number;
  readonly people: readonly string[];
}

/** One event, or one of a repeating event. `text`: its title, and after line breaks its attendees. */
export interface CalendarEvent {
  readonly from: number;
  readonly until: number;
  readonly text: string;
}

/** An event of a calendar that puts nobody on call because it cannot be used. */
export interface LeftOutEvent {
  readonly title: string;
  readonly reason: 'unreadable' | 'repeats-too-often' | 'no-length';
}

/** What overlaps is united, and what is alike and adjacent is one. The result covers all of `from` to `until`. */
export function timelineOf(stints: readonly Stint[], from: number, until: number): readonly Stint[] {
  const within = stints
    .filter((each) => each.until > from && each.from < until && each.until > each.from)
    .sort((a, b) => a.from - b.from);
  const edges = within.flatMap((each) => [Math.max(from, each.from), Math.min(until, each.until)]);
  const times = [...new Set([from, ...edges, until])].sort((a, b) => a - b);
  const timeline: Stint[] = [];
  let on: Stint[] = [];
  let begun = 0;
  for (const [i, start] of times.slice(0, -1).entries()) {
    on = on.filter((each) => each.until > start);
    for (let next = within[begun]; next && next.from <= start; next = within[++begun]) on.push(next);
    const people = [...new Set(on.flatMap((each) => each.people))].sort();
    const last = timeline.at(-1);
    const end = times[i + 1] as number;
    if (last && last.people.join('\n') === people.join('\n'))
      timeline[timeline.length - 1] = { ...last, until: end };
    else timeline.push({ from: start, until: end, people });
  }
  return timeline;
}
