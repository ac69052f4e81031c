import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk.close());

const typed = (type: string, body: string, headers: Record<string, string>) => ({
  body,
  headers: { ...headers, 'content-type': type },
});

describe('the merge of body and headers', () => {
  const headers = {
    'x-title': 'header',
    'x-message': 'header',
    'x-level': 'error',
    'x-ttl': '5',
    'x-ip': '10.0.0.1',
    'x-host': 'header',
    'x-key': 'header',
    'x-url': 'http://header/',
    'x-labels': 'from=header',
  };

  it('a JSON field is used before its header', async () => {
    const body = {
      title: 'json',
      message: 'json',
      level: 'warning',
      ttl: 7,
      ip: '10.0.0.2',
      host: 'json',
      key: 'json',
      url: 'http://json/',
      labels: { from: 'json' },
    };
    expect(await desk.accepted({ json: body, headers })).toMatchObject(body);
  });

  it('field by field: what JSON leaves out or gives as null comes from its header', async () => {
    const body = { title: 'json', message: null, level: null, host: 'json' };
    expect(await desk.accepted({ json: body, headers })).toMatchObject({
      title: 'json',
      message: 'header',
      level: 'error',
      ttl: 5,
      ip: '10.0.0.1',
      host: 'json',
      key: 'header',
      url: 'http://header/',
      labels: { from: 'header' },
    });
  });

  it('a JSON field is used even if it is empty', async () => {
    expect(await desk.refused(400, { json: { title: '' }, headers })).toBe('title is required');
    expect(await desk.refused(400, { json: { message: '' }, headers })).toBe('message is required');
    expect(await desk.refused(400, { json: { host: '' }, headers })).toMatch(/^host /);
    expect(await desk.refused(400, { json: { level: '' }, headers })).toMatch(/^level /);
  });

  it('a JSON field is used even if only its header is valid, and instead of a header that is not', async () => {
    expect(await desk.refused(400, { json: { ttl: '7' }, headers })).toMatch(/^ttl /);
    expect(await desk.accepted({ json: { ttl: 7 }, headers: { ...headers, 'x-ttl': 'soon' } })).toMatchObject(
      { ttl: 7 },
    );
  });

  it('headers fill in what a form leaves out', async () => {
    const form = typed('application/x-www-form-urlencoded', 'title=form', headers);
    expect(await desk.accepted(form)).toMatchObject({
      title: 'form',
      message: 'header',
      level: 'error',
      ttl: 5,
    });
  });

  it('the Content-Type given twice does not decide what is stored', async () => {
    const head = [
      ['X-Title', 'T'],
      ['Content-Type', 'application/json'],
      ['Content-Type', 'text/plain'],
    ] as const;
    const before = await desk.head();
    const reply = await desk.raw({ headers: head, body: '{"message":"M"}' });
    if (reply.status === 200) expect((await desk.find(JSON.parse(reply.body).id)).message).toBe('M');
    else expectError(reply, 400, 415);
    expect(await desk.head()).toBe(before + (reply.status === 200 ? 1 : 0));
  });
});
