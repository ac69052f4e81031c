/** The reference for streams: a server that starts a response to each request and never ends it. */
import { createServer } from 'node:http';

const server = createServer((_request, response) => {
  response.useChunkedEncodingByDefault = false;
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
