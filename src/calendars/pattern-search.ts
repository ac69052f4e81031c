/** Bounds on how long ical.js looks for the next time of a repeating event: it would look for 30 February without end. */
import ICAL from 'ical.js';

/** Times that do not match the pattern of one event, and of all events together. */
const mostMisses = 50_000;
const mostMissesTogether = 300_000;
/** ical.js adds days one by one. */
const mostDaysOrWeeks = 10_000;
const mostInterval = 1_000_000;
/** As ical.js has it for yearly patterns. */
const endOfTime = 20_000;

/** Of the events of one file. */
export class PatternSearch {
  /** Later times need not be found. */
  readonly lastYear: number;
  #left = 0;
  #leftTogether = mostMissesTogether;

  constructor(until: number) {
    this.lastYear = new Date(until).getUTCFullYear() + 1;
  }

  /** Whether the last event had too many misses. */
  get isExhausted(): boolean {
    return this.#left < 0;
  }

  /**
   * Call it before the times of an event are listed: its patterns then throw when they have missed too often.
   *
   * @throws Error for a pattern with too long an interval.
   */
  bound(event: ICAL.Component): void {
    this.#left = Math.max(0, Math.min(mostMisses, this.#leftTogether));
    for (const property of event.getAllProperties('rrule')) {
      const rule = property.getFirstValue();
      if (!(rule instanceof ICAL.Recur)) continue;
      if (rule.interval > (/^(DAILY|WEEKLY)$/.test(rule.freq) ? mostDaysOrWeeks : mostInterval))
        throw new Error('the interval is too long');
      rule.iterator = (dtstart) => new BoundedIterator(rule, dtstart, this);
    }
  }

  /** @throws Error when there are too many. */
  miss(): void {
    this.#leftTogether -= 1;
    this.#left -= 1;
    if (this.isExhausted) throw new Error('the pattern matches too rarely');
  }
}

class BoundedIterator extends ICAL.RecurIterator {
  readonly #search: PatternSearch;

  constructor(rule: ICAL.Recur, dtstart: ICAL.Time, search: PatternSearch) {
    super({ rule, dtstart, initialized: true });
    this.#search = search;
    this.fromData({ rule, dtstart });
  }

  override check_contracting_rules(): boolean {
    if (super.check_contracting_rules() || this.last.year > this.#search.lastYear) return true;
    this.#search.miss();
    return false;
  }

  override increment_month(): void {
    super.increment_month();
    if (this.last.year > endOfTime) throw new Error('the pattern never matches');
  }

  override expand_year_days(year: number): number {
    if (year <= this.#search.lastYear) return super.expand_year_days(year);
    (this as unknown as { days: number[] }).days = [];
    return 0;
  }
}
