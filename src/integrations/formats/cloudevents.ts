import { percentDecoded } from '#contract/percent.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import { type Format, type Item, itemsOf, type Payload, usualLevel, wordOf } from '../format.ts';
import {
  type JsonObject,
  labelsOfObject,
  linesOf,
  objectAt,
  requiredText,
  type SentLabel,
  textOf,
} from '../payload.ts';

/**
 * CloudEvents 1.0 over HTTP: one event or a batch as JSON, or with its attributes in headers.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
 */
export const cloudevents: Format = {
  // The data of an event with its attributes in headers may be of any type.
  takesAnyText: 'otherwise',
  read(payload) {
    if (payload.header('ce-specversion') !== undefined) return [itemOf(fromHeaders(payload), '')];
    if (Array.isArray(payload.body)) return itemsOf(payload.body, '', itemOf);
    return [itemOf(objectAt(payload.body), '')];
  },
};

/** Header values of an event are percent-encoded. */
function fromHeaders({ header, headerNames = [], body }: Payload): JsonObject {
  const attributes = new Map<string, string>();
  for (const name of headerNames) {
    if (!name.startsWith('ce-')) continue;
    const attribute = name.slice(3);
    try {
      attributes.set(attribute, percentDecoded(header(name) ?? ''));
    } catch (error) {
      // An extension becomes only a label: without it, the event is still worth storing.
      if (known.includes(attribute)) throw error;
    }
  }
  return { ...Object.fromEntries(attributes), data: body };
}

function itemOf(event: JsonObject, pointer: string): Item {
  const type = requiredText(event.type, `${pointer}/type`);
  const id = requiredText(event.id, `${pointer}/id`);
  const source = requiredText(event.source, `${pointer}/source`);
  const data = isPlainObject(event.data) ? event.data : {};
  const severity = wordOf(textOf(event.severity, event.severitytext, data.severity, data.level) ?? 'event');
  const subject = textOf(event.subject);
  return {
    title: textOf(data.title) ?? (subject === undefined ? type : `${type}: ${subject}`),
    message: textOf(data.message, data.description, event.data) ?? linesOf({ source, ...data }),
    severity,
    level: usualLevel(severity, 'info'),
    source: textOf(data.host, data.hostname),
    key: textOf(data.key),
    labels: [['type', type], ['source', source], ...extensionsOf(event)],
    url: textOf(data.url),
    identity: JSON.stringify([source, id]),
  };
}

/** The attributes that events may have by the specification, and their data. */
const known = [
  ...['specversion', 'id', 'source', 'type', 'subject', 'time'],
  ...['datacontenttype', 'dataschema', 'data', 'data_base64'],
];

const extensionsOf = (event: JsonObject): readonly SentLabel[] =>
  labelsOfObject(event).filter(([name]) => !known.includes(String(name)));
