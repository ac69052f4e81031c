import { expect, test } from 'vitest';
import { changesOf, rebase } from './form-values.ts';

const base = { name: 'NOC', tags: ['noc'], fields: { url: 'https://a.example', topic: '' } };

test('what was typed stays, and what was not touched follows what others saved', () => {
  const typed = { ...base, name: 'East wall', fields: { ...base.fields, topic: 'alerts' } };
  const saved = { name: 'West wall', tags: ['noc', 'west'], fields: { url: 'https://b.example', topic: '' } };
  expect(rebase(base, typed, saved)).toEqual({
    name: 'East wall',
    tags: ['noc', 'west'],
    fields: { url: 'https://b.example', topic: 'alerts' },
  });
  expect(rebase(base, base, saved)).toEqual(saved);
  expect(rebase(base, typed, base)).toEqual(typed);
});

test('a change has only the fields that differ', () => {
  expect(changesOf(base, { ...base, fields: { ...base.fields } })).toEqual({});
  expect(changesOf<object>(base, { ...base, tags: [], secrets: { key: null } })).toEqual({
    tags: [],
    secrets: { key: null },
  });
});
