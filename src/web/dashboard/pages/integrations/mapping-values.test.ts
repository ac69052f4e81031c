import { expect, test } from 'vitest';
import { MappingPut } from '#contract/integrations/integration.ts';
import { fieldNames, mappingOf, offersOf, valuesOf } from './mapping-values.ts';

const mapping = {
  ...{ name: 'ups', items: '/events', updatedAt: '2026-01-01T00:00:00Z', updatedBy: 'ada' },
  fields: { title: '{^/device}: {/what}', level: '{/sev}' },
  levels: { high: 'critical', '*': 'warning' },
  labels: { site: '{^/device}' },
};

test('the form has every field that a mapping may have', () => {
  expect(fieldNames.toSorted()).toEqual(Object.keys(MappingPut.properties.fields.properties).toSorted());
});

test('a mapping is the same after its form, with what the form does not show, and what is empty is left out', () => {
  const { name: _, updatedAt: _at, updatedBy: _by, ...put } = mapping;
  expect(mappingOf(valuesOf(mapping))).toEqual(put);
  const values = { ...valuesOf(undefined), levels: [{ word: ' ', level: 'info' }] };
  expect(mappingOf({ ...values, fields: { ...values.fields, title: 'x' } })).toEqual({
    fields: { title: 'x' },
  });
});

test('a mapping of payloads that are lists themselves stays one', () => {
  const values = { ...valuesOf({ ...mapping, items: '' }), items: '/events' };
  expect(values.isRootList).toBe(true);
  expect(mappingOf(values).items).toBe('');
  expect(mappingOf({ ...values, isRootList: false }).items).toBe('/events');
  expect(valuesOf(mapping).isRootList).toBe(false);
  const payload = JSON.stringify([{ id: 7, at: { x: true } }, { id: 8 }]);
  expect(offersOf(payload, '').values.map(({ placeholder }) => placeholder)).toEqual(['{/id}', '{/at/x}']);
  expect(offersOf('{"id":7}', '').values).toEqual([{ placeholder: '{/id}', value: '7' }]);
});

test('a payload offers its lists and its values, of the first item and of the whole', () => {
  const payload = JSON.stringify({
    device: 'u',
    'a/b~c': 1,
    events: [{ id: 7, at: { x: true } }, { id: 8 }],
    none: null,
  });
  expect(offersOf(payload, undefined).values.map(({ placeholder }) => placeholder)).toEqual([
    '{/device}',
    '{/a~1b~0c}',
    '{/events/0/id}',
    '{/events/0/at/x}',
  ]);
  expect(offersOf(payload, '/events')).toEqual({
    lists: ['/events'],
    values: [
      { placeholder: '{/id}', value: '7' },
      { placeholder: '{/at/x}', value: 'true' },
      { placeholder: '{^/device}', value: 'u' },
      { placeholder: '{^/a~1b~0c}', value: '1' },
    ],
  });
  expect(offersOf('{', undefined)).toEqual({ lists: [], values: [] });
});
