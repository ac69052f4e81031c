import { expect, it } from 'vitest';
import { read } from '#test/support/integration.ts';
import { healthchecks } from './healthchecks.ts';

it.each(['up', 'grace', 'started'])('a check that is %s is up', (status) => {
  expect(read(healthchecks, { name: 'n', status })[0]).toMatchObject({ title: 'n is up', level: 'success' });
});

it.each(['paused', 'new'])('a check that is %s is an info that replaces its alert', (status) => {
  const check = { name: 'n', uuid: 'u' };
  expect(read(healthchecks, { ...check, status })[0]).toMatchObject({
    title: `n is ${status}`,
    level: 'info',
    key: read(healthchecks, { ...check, status: 'down' })[0]?.key,
  });
});

it('a check without a name has its slug, or is a check', () => {
  const title = (check: object) => read(healthchecks, { status: 'down', ...check })[0]?.title;
  expect([title({ name: '', slug: 'backup' }), title({})]).toEqual(['backup is down', 'Check is down']);
});

it('two checks with one slug have keys of their own', () => {
  const url = 'https://hc.example.org/api/v3/checks/31365bce';
  const check = { name: 'n', slug: 's', status: 'down', update_url: url };
  expect(read(healthchecks, check)[0]?.key).toBe('healthchecks:31365bce');
});
