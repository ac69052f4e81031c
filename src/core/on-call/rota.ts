/** Weekly rotas: shifts in the wall time of a time zone, in which people take turns week by week. */
import type { Rota } from '#contract/routing/on-call.ts';
import { weekdays } from '#contract/routing/rule.ts';
import { zonedTime, zoneOffset } from '../time/time.ts';
import type { Stint } from './stints.ts';

const dayMs = 86_400_000;
const minuteMs = 60_000;

/**
 * The shifts that touch `from` to `until`. A shift begins and ends by the wall clock, so one that contains a change to or from
 * summer time is an hour shorter or longer, and the next one begins where it ends.
 */
export function stintsOfRota(rota: Rota, timeZone: string, from: number, until: number): readonly Stint[] {
  const firstDay = Date.parse(rota.firstWeek) / dayMs;
  const stints: Stint[] = [];
  // A shift that begins on the day before may last until the next one.
  const [start, end] = [localDay(from, timeZone) - 1, localDay(until, timeZone)];
  for (let day = start; day <= end; day++) {
    // 1 January 1970 was a Thursday.
    const weekday = weekdays[(((day + 3) % 7) + 7) % 7];
    const week = Math.floor((day - firstDay) / 7);
    for (const { days, from: begin, until: finish, people } of rota.shifts) {
      if (!days.some((each) => each === weekday)) continue;
      const [first, last] = [minuteOf(begin), minuteOf(finish)];
      const person = people[((week % people.length) + people.length) % people.length] as string;
      stints.push({
        from: timeOf(day, first, timeZone),
        until: timeOf(last > first ? day : day + 1, last, timeZone),
        people: [person],
      });
    }
  }
  return stints.filter((stint) => stint.until > from && stint.from < until);
}

const localDay = (at: number, timeZone: string): number =>
  Math.floor((at + zoneOffset(at, timeZone)) / dayMs);
const timeOf = (day: number, minute: number, timeZone: string): number =>
  zonedTime(day * dayMs + minute * minuteMs, timeZone);
const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
