import { labelEntries } from '#contract/history/labels.ts';
import { endTitle, type Format, type Item, type Payload, usualLevel, wordOf } from '../format.ts';
import {
  type JsonObject,
  joinTexts,
  labelsOfObject,
  labelsOfWords,
  linesOf,
  objectAt,
  optionalObject,
  requiredText,
  textOf,
} from '../payload.ts';

/**
 * Opsgenie's Alert API: alerts that are created, and closed or deleted by their alias. Changes are not stored: Alertmanager creates
 * the alert again before it changes its texts. https://docs.opsgenie.com/docs/alert-api
 */
export const opsgenie: Format = {
  alertKey: ({ params: { alias, changed } }) =>
    alias === undefined || changed !== undefined ? undefined : keyOfAlias(alias),
  read(payload) {
    const { alias, changed } = payload.params;
    if (changed !== undefined) return [];
    return [alias === undefined ? created(payload) : closed(payload, alias)];
  },
  answer: ([stored]) => ({
    status: 202,
    body: { result: 'Request will be processed', took: 0, requestId: stored?.id ?? '' },
  }),
};

/** Its call that acknowledges an alert by its alias. */
export const opsgenieAcknowledge: Format = { ...opsgenie, read: () => [], acknowledges: () => true };

const keyOfAlias = (alias: string) => `opsgenie:${alias}`;

function created({ body }: Payload): Item {
  const alert = objectAt(body);
  const severity = wordOf(textOf(alert.priority) ?? 'p3');
  const details: JsonObject = optionalObject(alert.details, '/details');
  const alias = textOf(alert.alias);
  return {
    title: requiredText(alert.message, '/message'),
    message: joinTexts([textOf(alert.description), linesOf(details)]),
    severity,
    level: usualLevel(severity, 'warning'),
    source: textOf(alert.entity),
    key: alias && keyOfAlias(alias),
    labels: [...labelsOfObject(details), ...labelsOfWords(Array.isArray(alert.tags) ? alert.tags : [])],
    isFiring: alias !== undefined,
  };
}

function closed(payload: Payload, alias: string): Item {
  const { note, source } = payload.body === undefined ? {} : objectAt(payload.body);
  return {
    title: endTitle('Closed', alias, payload),
    message: textOf(note, source),
    severity: 'resolved',
    level: 'success',
    key: keyOfAlias(alias),
    labels: labelEntries(payload.alert?.labels ?? null),
  };
}
