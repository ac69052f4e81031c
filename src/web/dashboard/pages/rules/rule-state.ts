/** Whether a rule is active now. */
import { type Rule, type RuleWindow, weekdays } from '#contract/routing/rule.ts';
import { wallTimeOf } from '#web/dashboard/formats/wall-clock.ts';

/** `early` and `ended`: outside of `activeFrom` … `activeUntil`; `resting`: outside of its weekly windows. */
type RuleState = 'active' | 'disabled' | 'early' | 'ended' | 'resting';

type Times = Pick<Rule, 'enabled' | 'activeFrom' | 'activeUntil' | 'windows' | 'timeZone'>;

const minutesPerDay = 1_440;
const minutesPerWeek = 7 * minutesPerDay;

export function ruleState(
  { enabled, activeFrom, activeUntil, windows, timeZone }: Times,
  now: number,
): RuleState {
  if (activeUntil !== null && Date.parse(activeUntil) <= now) return 'ended';
  if (!enabled) return 'disabled';
  if (activeFrom !== null && Date.parse(activeFrom) > now) return 'early';
  return windows.length === 0 || isWithin(windows, timeZone, now) ? 'active' : 'resting';
}

export const isMute = ({ then }: Pick<Rule, 'then'>): boolean => then.mute === true;

export const activeMutes = (rules: readonly Rule[], now: number): readonly Rule[] =>
  rules.filter((rule) => isMute(rule) && ruleState(rule, now) === 'active');

export const endedRules = (rules: readonly Rule[], now: number): readonly Rule[] =>
  rules.filter((rule) => ruleState(rule, now) === 'ended');

/** If `until` is at or before `from`, the window runs past midnight, as on the server. */
function isWithin(windows: readonly RuleWindow[], timeZone: string, now: number): boolean {
  const { year, month, day, hour, minute } = wallTimeOf(now, timeZone);
  const weekday = (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
  const at = weekday * minutesPerDay + hour * 60 + minute;
  return windows.some(({ days, from, until }) => {
    const [start, end] = [minuteOf(from), minuteOf(until)];
    const length = end > start ? end - start : end - start + minutesPerDay;
    return days.some((each) => {
      const since = at - weekdays.indexOf(each) * minutesPerDay - start;
      return (since + minutesPerWeek) % minutesPerWeek < length;
    });
  });
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
