/** The words for the fields of a notification, as in `../en/fields.ts`. */

/** In lists, forms and drawers. */
export const fieldNames = {
  'field.host': 'Host',
  'field.ip': 'IP',
  'field.key': 'Schlüssel',
  'field.labels': 'Labels',
  'field.level': 'Stufe',
  'field.message': 'Nachricht',
  'field.sourceIp': 'Quell-IP',
  'field.title': 'Titel',
  'field.token': 'Token',
  'field.url': 'Link',
};

/** In the sentence of a rule. */
export const fieldsInSentences = {
  'field.level': 'Stufe',
  'field.host': 'Host',
  'field.ip': 'IP',
  'field.sourceIp': 'Quell-IP',
  'field.title': 'Titel',
  'field.message': 'Nachricht',
  'field.token': 'Token',
  'field.key': 'Schlüssel',
  'field.label': 'Label „{{name}}“',
};

/** In the fields of a rule’s conditions, and of a notification that is tried. */
export const fieldExamples = {
  'example.host': 'db-*',
  'example.ip': '10.0.0.0/8',
  'example.sourceIp': '203.0.113.7',
  'example.token': 'Name des Tokens',
  'example.key': 'disk/*',
  'example.labelName': 'env',
  'example.labels': 'prod, stag* oder *',
  'typedExample.host': 'db-01',
  'typedExample.ip': '10.0.4.17',
  'typedExample.key': 'disk/db-01',
  'typedExample.labels': 'env=prod',
  'typedExample.sourceIp': '203.0.113.7',
  'typedExample.token': 'Name des Tokens',
};

/** Beside the keys of a search. */
export const searchKeyHints = {
  'key.host': 'db-01 · db-*',
  'key.ip': '10.0.0.5 · 10.0.0.0/8',
  'key.source': 'Quell-IP, wie ip',
  'key.token': 'Name des Tokens',
  'key.key': 'Schlüssel des Absenders',
  'key.label': 'env=prod · env=stag* · env',
};
