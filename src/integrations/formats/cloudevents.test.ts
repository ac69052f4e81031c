import { expect, test } from 'vitest';
import { badRequest } from '#core/errors.ts';
import type { Payload } from '../format.ts';
import { cloudevents } from './cloudevents.ts';

/** An event with its attributes in headers, of which some cannot be read. */
function read(unreadable: string) {
  const headers: Record<string, string> = {
    'ce-specversion': '1.0',
    'ce-type': 'disk.full',
    'ce-source': '/db-01',
    'ce-id': '1',
    'ce-site': 'plant%202',
    'ce-rack': 'a',
  };
  const header = (name: string) => {
    if (name === unreadable) throw badRequest(`the header ${name} is given twice`);
    return headers[name];
  };
  const payload = { body: 'Disk full', header, headerNames: Object.keys(headers) } as unknown as Payload;
  return cloudevents.read(payload);
}

test('an extension in a header is a label; one that cannot be read is left out', () => {
  const own = [
    ['type', 'disk.full'],
    ['source', '/db-01'],
    ['site', 'plant 2'],
  ];
  expect(read('')).toMatchObject([{ labels: [...own, ['rack', 'a']] }]);
  expect(read('ce-rack')).toMatchObject([{ labels: own }]);
});

test('an attribute that cannot be read refuses the event', () => {
  expect(() => read('ce-source')).toThrow('given twice');
});
