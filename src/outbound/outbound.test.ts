import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createOutbound, plainConnectionError } from './outbound.ts';

const outbound = createOutbound(['127.0.0.1']);
let server: Server | undefined;
afterEach(() => server?.close());

/** Answers every connection as told. */
async function listen(answer: (socket: Socket) => void): Promise<number> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    answer(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a receiver that answers 101 is an error', async () => {
  const port = await listen((socket) =>
    socket.once('data', () =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ),
  );
  await expect(outbound.request({ url: `http://127.0.0.1:${port}/` }, { timeoutMs: 60_000 })).rejects.toThrow(
    'answered 101',
  );
});

test('a request ends with its time and with its signal, while the answer is under way, too', async () => {
  const port = await listen((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegun'));
  const url = `http://127.0.0.1:${port}/`;
  await expect(outbound.request({ url }, { timeoutMs: 50 })).rejects.toThrow('no answer within 0.05 s');
  const aborted = new AbortController();
  const sent = outbound.request({ url }, { timeoutMs: 60_000, signal: aborted.signal });
  setTimeout(() => aborted.abort(new Error('the server stops')), 50);
  await expect(sent).rejects.toThrow();
});

test('an error of a connection that nobody listens to yet does not end the server', async () => {
  const port = await listen((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const socket = await outbound.connect({ host: '127.0.0.1', port, isSecure: false }, { timeoutMs: 60_000 });
  socket.write('x');
  await new Promise((closed) => socket.once('close', closed));
  expect(socket.destroyed).toBe(true);
});

test('a failed connection is explained in plain words, and keeps its cause', async () => {
  const port = await listen((socket) => {
    socket.once('data', (data) =>
      data[0] === 0x16 ? socket.end('220 ready\r\n') : socket.resetAndDestroy(),
    );
  });
  const errorOf = (url: string) =>
    outbound.request({ url }, { timeoutMs: 60_000 }).catch((error: Error) => error) as Promise<Error>;
  const closed = await errorOf(`http://127.0.0.1:${port}/`);
  expect(closed.message).toBe('the receiver closed the connection before it answered');
  expect(closed.cause).toMatchObject({ code: 'ECONNRESET' });
  expect((await errorOf(`https://127.0.0.1:${port}/`)).message).toBe(
    'the receiver does not use TLS on this port',
  );
  await new Promise((done) => server?.close(done));
  expect((await errorOf(`http://127.0.0.1:${port}/`)).message).toBe(
    `127.0.0.1:${port} refused the connection`,
  );
});

const nodeError = (code: string, more: object = {}) =>
  Object.assign(new Error(`raw ${code}`), { code, ...more });

test.each([
  [nodeError('ENOTFOUND', { hostname: 'a.example' }), 'the name a.example does not exist'],
  [nodeError('EAI_AGAIN', { hostname: 'a.example' }), 'the name a.example cannot be resolved at the moment'],
  [nodeError('ETIMEDOUT', { address: 'fd00::1', port: 80 }), '[fd00::1]:80 did not answer'],
  [nodeError('CERT_HAS_EXPIRED'), "the receiver's certificate has expired"],
  [nodeError('HPE_INVALID_CONSTANT'), 'the answer is not HTTP'],
  [
    new AggregateError([nodeError('ECONNREFUSED', { address: '10.0.0.1', port: 9 })]),
    '10.0.0.1:9 refused the connection',
  ],
  [new Error('something else'), 'something else'],
])('%s reads in plain words', (error, sentence) => {
  expect((plainConnectionError(error) as Error).message).toBe(sentence);
});
