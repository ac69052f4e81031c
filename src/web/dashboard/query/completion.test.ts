import { expect, test } from 'vitest';
import { complete, completionAt, matchingValues } from './completion.ts';

const at = (marked: string) => {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  return { text, ask: completionAt(text, caret) };
};
const chosen = (marked: string, choice: string) => {
  const { text, ask } = at(marked);
  if (!ask) return undefined;
  const done = complete(text, ask, choice);
  return `${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`;
};

test('a key is completed where a word begins, behind a minus and before its values', () => {
  expect(at('ho|').ask).toMatchObject({ key: undefined, prefix: 'ho' });
  expect(chosen('ho|', 'host')).toBe('host:|');
  expect(chosen('-ho|', 'host')).toBe('-host:|');
  expect(chosen('a | b', 'level')).toBe('a level:| b');
  expect(chosen('h|:db-1 x', 'host')).toBe('host:|db-1 x');
});

test('a value is completed, alone or as one of several, and quoted where it must be', () => {
  expect(at('level:err|').ask).toMatchObject({ key: 'level', prefix: 'err' });
  expect(chosen('level:err|', 'error')).toBe('level:error |');
  expect(chosen('level:error,cr|,x', 'critical')).toBe('level:error,critical|,x');
  expect(chosen('rule:ni| a', 'night mute')).toBe('rule:"night mute"| a');
  expect(chosen('state:op|', 'open')).toBe('state:open |');
  expect(at('state:op|').ask).toMatchObject({ key: 'is', prefix: 'op' });
  expect(at('rule:"night m|').ask).toMatchObject({ key: 'rule', prefix: 'night m', start: 5, end: 13 });
  expect(chosen('rule:"night m|', 'night mute')).toBe('rule:"night mute" |');
});

test('a comparison of levels stays, or comes with what was chosen', () => {
  expect(at('level:>=wa|').ask).toMatchObject({ prefix: 'wa', operator: '>=' });
  expect(chosen('level:>=wa|', 'warning')).toBe('level:>=warning |');
  expect(chosen('level:wa|', '>=warning')).toBe('level:>=warning |');
  expect(chosen('level:>=wa|', '>=warning')).toBe('level:>=warning |');
});

test('after the name of a label its value is completed', () => {
  expect(chosen('la|', 'label')).toBe('label:|');
  expect(at('label:en|').ask).toMatchObject({ key: 'label', prefix: 'en' });
  expect(chosen('label:en|', 'env=')).toBe('label:env=|');
  expect(chosen('-label:env=pr|', 'env=prod')).toBe('-label:env=prod |');
  expect(at('label:a=1,env=pr|').ask).toMatchObject({ prefix: 'env=pr', start: 10 });
  expect(chosen('label:site=pl|', 'site=plant 2')).toBe('label:"site=plant 2" |');
  expect(at('label:"site=plant 2|').ask).toMatchObject({ key: 'label', prefix: 'site=plant 2' });
  expect(matchingValues(['env=', 'site='], 'ENV', 10)).toEqual(['env=']);
});

test('behind a value of a label another value of it is completed, without its name where that is clear', () => {
  expect(at('label:env=prod,st|').ask).toMatchObject({ prefix: 'env=st', start: 15, label: 'env=' });
  expect(chosen('label:Env=prod,st|,x', 'env=stage')).toBe('label:Env=prod,stage|,x');
  expect(chosen('label:"zone=a, b=c",|', 'zone=plant 2')).toBe('label:"zone=a, b=c","plant 2" |');
  expect(chosen('label:env=prod,|', 'env=west=1')).toBe('label:env=prod,env=west=1 |');
  expect(chosen('label:env=prod,|', 'env=')).toBe('label:env=prod,env=|');
  expect(at('label:env,si|').ask).toMatchObject({ prefix: 'si', label: '' });
  expect(at('label:env=prod,site=p|').ask).toMatchObject({ prefix: 'site=p', label: '' });
});

test('within a phrase and behind what is no key nothing is offered', () => {
  expect(at('"a ho|').ask).toBeUndefined();
  expect(at('hots:a|').ask).toBeUndefined();
  expect(at('title:a|').ask).toBeUndefined();
});

test('what begins alike comes before what only holds it, and what is there already is no offer', () => {
  expect(matchingValues(['web-db', 'db-1', 'db-2', 'x'], 'DB', 10)).toEqual(['db-1', 'db-2', 'web-db']);
  expect(matchingValues(['db-1'], 'db-1', 10)).toEqual([]);
});
