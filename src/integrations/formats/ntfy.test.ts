import { describe, expect, it } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import { read } from '#test/support/integration.ts';
import { ntfy, ntfyJson } from './ntfy.ts';

const publish = (body: string | undefined, headers: Record<string, string> = {}, query = '') =>
  read(ntfy, body, { headers, query, params: { topic: 'backups' } })[0];

describe('a message published to a topic of ntfy', () => {
  it('is the body; the topic is its host, and its title where there is none', () => {
    expect(publish('Backup successful 😀')).toEqual({
      ...noTexts,
      title: 'backups',
      message: 'Backup successful 😀',
      level: 'info',
      ttl: null,
      host: 'backups',
    });
    expect(publish(undefined)?.message).toBe('triggered');
  });

  it('has title, priority, tags and link, as ntfy’s own example', () => {
    const headers = {
      Title: 'Unauthorized access detected',
      Priority: 'urgent',
      Tags: 'warning,skull,backup-host',
      Click: 'https://home.nest.com/',
    };
    expect(publish('Remote access to phils-laptop detected.', headers)).toMatchObject({
      title: '⚠️ 💀 Unauthorized access detected',
      message: 'Remote access to phils-laptop detected.\n\nTags: backup-host',
      level: 'error',
      url: 'https://home.nest.com/',
      labels: labelsText({ warning: '', skull: '', 'backup-host': '' }),
    });
    expect(publish('m', { Tags: 'env=prod, +1,env=test,,Büro' })?.labels).toBe(
      labelsText({ env: 'prod', _1: '', B_ro: '' }),
    );
  });

  it.each([
    [{ 'X-Title': 'a', 'X-Priority': '4', 'X-Tags': 'x', 'X-Click': 'http://c/' }, ''],
    [{ Title: 'a', Priority: 'high', Tag: 'x', Click: 'http://c/' }, ''],
    [{ t: 'a', prio: '4', ta: 'x' }, 'click=http://c/'],
    [{}, 'title=a&p=high&tags=x&Click=http://c/'],
  ])('takes every name of its parameters: %j %s', (headers, query) => {
    expect(publish('m', headers as Record<string, string>, query)).toMatchObject({
      title: 'a',
      message: 'm\n\nTags: x',
      level: 'warning',
      url: 'http://c/',
    });
  });

  it('may be a header or parameter, with line breaks written as \\n', () => {
    expect(publish(undefined, { Message: 'a\\nb' })?.message).toBe('a\nb');
    expect(publish(undefined, {}, 'message=hello')?.message).toBe('hello');
  });

  it('of one sequence replaces the one before', () => {
    expect(publish('50 %', { 'X-Sequence-ID': 'job-1' })?.key).toBe('ntfy:backups:job-1');
  });

  it('takes levels from the query by the names of the priorities', () => {
    expect(publish('m', { Priority: '5' }, 'level=max:critical')?.level).toBe('critical');
  });

  it('is refused when it is to be sent later, or of a priority that is none', () => {
    expect(() => publish('m', { Delay: '30min' })).toThrow('delay is not supported');
    expect(() => publish('m', { Priority: '6' })).toThrow('priority must be 1 to 5');
    expect(() => read(ntfy, 'm', { params: { topic: 'a b' } })).toThrow('topic must have');
  });
});

describe('a message published to ntfy as JSON', () => {
  it('has the same fields', () => {
    const body = {
      topic: 'mytopic',
      message: 'Disk space is low at 5.1 GB',
      title: 'Low disk space alert',
      tags: ['warning', 'cd'],
      priority: 4,
      attach: 'https://filesrv.lan/space.jpg',
      filename: 'diskspace.jpg',
      click: 'https://homecamera.lan/xasds1h2xsSsa/',
      actions: [{ action: 'view', label: 'Admin panel', url: 'https://filesrv.lan/admin' }],
    };
    expect(read(ntfyJson, body)).toEqual([
      expect.objectContaining({
        title: '⚠️ 💿 Low disk space alert',
        message: 'Disk space is low at 5.1 GB\n\nhttps://filesrv.lan/space.jpg',
        level: 'warning',
        host: 'mytopic',
        url: 'https://homecamera.lan/xasds1h2xsSsa/',
      }),
    ]);
  });

  it.each([
    [{}],
    [{ topic: '' }],
    [{ topic: 5 }],
    ['x'],
    [{ topic: 't', priority: 'x' }],
    [{ topic: 't', delay: '1h' }],
  ])('%j is refused', (body) => {
    expect(() => read(ntfyJson, body)).toThrow(expect.objectContaining({ code: 'bad-request' }));
  });
});

it.each(['u=1, i', 'u=3', 'u=1,i'])('the header Priority of HTTP is no priority of ntfy: %s', (value) => {
  const params = { topic: 't' };
  const at = (query: string) => read(ntfy, 'm', { headers: { Priority: value }, params, query })[0]?.level;
  expect([at(''), at('priority=5')]).toEqual(['info', 'error']);
});

it('shows the tags of widespread senders as emoji', () => {
  const title = (tags: string[]) => read(ntfyJson, { topic: 't', message: 'm', title: 'Shop', tags })[0];
  expect(title(['red_circle', 'production'])).toMatchObject({
    title: '🔴 Shop',
    message: 'm\n\nTags: production',
  });
});
