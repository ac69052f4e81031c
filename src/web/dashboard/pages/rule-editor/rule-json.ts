/** A rule as the JSON that the API takes: to keep as code, and to bring back. */
import type { RuleCreate } from '#contract/rule.ts';
import { conditionFields } from '#web/dashboard/components/rule-sentence.ts';

type JsonFault =
  | { readonly fault: 'syntax'; readonly detail: string }
  | { readonly fault: 'shape' | 'unknown'; readonly detail: string };

type Shape = 'string' | 'boolean' | 'object' | 'array' | 'time';
const shapes: Readonly<Record<keyof RuleCreate, Shape>> = {
  name: 'string',
  enabled: 'boolean',
  when: 'object',
  then: 'object',
  continue: 'boolean',
  activeFrom: 'time',
  activeUntil: 'time',
  windows: 'array',
  timeZone: 'string',
  note: 'string',
};
/** What the server adds to a rule: taken from what was copied elsewhere, and left out. */
const counted = ['id', 'hits', 'lastHitAt', 'createdAt', 'updatedAt'];
const actions = ['panels', 'setLevel', 'setTtl', 'mute', 'throttle'];

/** Defaults are left out: what stands there is what the rule says. */
export function jsonOf(rule: Required<RuleCreate>): string {
  const { name, enabled, when, then, note, windows, timeZone, activeFrom, activeUntil } = rule;
  return JSON.stringify(
    {
      name,
      ...(!enabled && { enabled }),
      when,
      then,
      ...(rule.continue && { continue: true }),
      ...(activeFrom !== null && { activeFrom }),
      ...(activeUntil !== null && { activeUntil }),
      ...(windows.length > 0 && { windows, timeZone }),
      ...(note !== '' && { note }),
    },
    undefined,
    2,
  );
}

/** Of the right form, as far as the editor must rely on it; the rest is the server's to judge. */
export function ruleFromJson(text: string): { readonly rule: RuleCreate } | JsonFault {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return { fault: 'syntax', detail: error instanceof Error ? error.message : '' };
  }
  if (!isObject(read)) return { fault: 'shape', detail: '{"name": …, "when": …, "then": …}' };
  const given = Object.fromEntries(Object.entries(read).filter(([key]) => !counted.includes(key)));
  return faultIn(given) ?? { rule: { name: '', ...(given as Omit<RuleCreate, 'name'>) } };
}

function faultIn(given: Readonly<Record<string, unknown>>): JsonFault | undefined {
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(shapes, key)) return { fault: 'unknown', detail: key };
    if (!hasShape(value, shapes[key as keyof RuleCreate])) return { fault: 'shape', detail: key };
  }
  const { when = {}, then } = given;
  if (!isObject(then)) return { fault: 'shape', detail: 'then' };
  const action = Object.keys(then).find((key) => !actions.includes(key));
  if (action !== undefined) return { fault: 'unknown', detail: `then.${action}` };
  return (
    actionFault(then) ?? conditionFault(when as object, 'when') ?? windowFault(given.windows as unknown[])
  );
}

function actionFault({ panels, throttle }: Readonly<Record<string, unknown>>): JsonFault | undefined {
  const isTarget =
    panels === undefined ||
    panels === 'all' ||
    panels === 'none' ||
    (isObject(panels) && (isTexts(panels.ids) || isTexts(panels.tags)));
  if (!isTarget) return { fault: 'shape', detail: 'then.panels' };
  const isThrottle =
    throttle === undefined ||
    (isObject(throttle) && isTexts(throttle.by) && typeof throttle.perMs === 'number');
  return isThrottle ? undefined : { fault: 'shape', detail: 'then.throttle' };
}

function conditionFault(when: object, place: string): JsonFault | undefined {
  for (const [key, value] of Object.entries(when)) {
    const at = `${place}.${key}`;
    if (key === 'not' && place === 'when') {
      const fault = isObject(value) ? conditionFault(value, at) : { fault: 'shape' as const, detail: at };
      if (fault) return fault;
    } else if (!conditionFields.some((field) => field === key)) return { fault: 'unknown', detail: at };
    else if (!isCondition(key, value)) return { fault: 'shape', detail: at };
  }
  return undefined;
}

function isCondition(field: string, value: unknown): boolean {
  if (field === 'minLevel') return typeof value === 'string';
  if (field !== 'title' && field !== 'message') return isTexts(value);
  if (!isObject(value)) return false;
  const [how, ...more] = Object.entries(value);
  const isOne = how !== undefined && more.length === 0 && ['contains', 'glob', 'regex'].includes(how[0]);
  return isOne && (typeof how[1] === 'string' || isTexts(how[1]));
}

function windowFault(windows: readonly unknown[] = []): JsonFault | undefined {
  const isWhole = windows.every(
    (each) =>
      isObject(each) && isTexts(each.days) && typeof each.from === 'string' && typeof each.until === 'string',
  );
  return isWhole ? undefined : { fault: 'shape', detail: 'windows' };
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === 'object') return isObject(value);
  if (shape === 'array') return Array.isArray(value);
  if (shape === 'time')
    return value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value)));
  return typeof value === shape;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
