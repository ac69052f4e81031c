/** The words for the fields of a notification: an additional field needs its words here. */

/** In lists, forms and drawers. */
export const fieldNames = {
  'field.host': 'Host',
  'field.ip': 'IP',
  'field.key': 'Key',
  'field.labels': 'Labels',
  'field.level': 'Level',
  'field.message': 'Message',
  'field.sourceIp': 'Source IP',
  'field.title': 'Title',
  'field.token': 'Token',
  'field.url': 'Link',
} as const;

/** In the sentence of a rule. */
export const fieldsInSentences = {
  'field.level': 'level',
  'field.host': 'host',
  'field.ip': 'IP',
  'field.sourceIp': 'Source IP',
  'field.title': 'title',
  'field.message': 'message',
  'field.token': 'token',
  'field.key': 'key',
  'field.label': 'label {{name}}',
} as const;

/** In the fields of a rule’s conditions, and of a notification that is tried. */
export const fieldExamples = {
  'example.host': 'db-*',
  'example.ip': '10.0.0.0/8',
  'example.sourceIp': '203.0.113.7',
  'example.token': 'token name',
  'example.key': 'disk/*',
  'example.labelName': 'env',
  'example.labels': 'prod, stag* or *',
  'typedExample.host': 'db-01',
  'typedExample.ip': '10.0.4.17',
  'typedExample.key': 'disk/db-01',
  'typedExample.labels': 'env=prod',
  'typedExample.sourceIp': '203.0.113.7',
  'typedExample.token': 'token name',
} as const;

/** Beside the keys of a search. */
export const searchKeyHints = {
  'key.host': 'db-01 · db-*',
  'key.ip': '10.0.0.5 · 10.0.0.0/8',
  'key.source': 'Source IP, like ip',
  'key.token': 'token name',
  'key.key': 'the sender’s key',
  'key.label': 'env=prod · env=stag* · env',
} as const;
