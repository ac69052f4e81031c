/** The least that a refusal can cost on this runtime: a server that does nothing but refuse. Prints where it listens. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const busy = JSON.stringify({ error: 'no' });
const headers = [
  ...['content-type', 'application/json; charset=utf-8'],
  ...['content-length', String(busy.length)],
  ...['retry-after', '1'],
];

const server = createServer((_request, response) => {
  // As slow as the other: how many come at a time decides what each costs.
  setTimeout(() => response.writeHead(503, headers).end(busy), 300);
});
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit(0));
