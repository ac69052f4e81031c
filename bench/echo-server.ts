/** The reference for intake: a Fastify server that parses a notification's JSON and returns it. */
import Fastify from 'fastify';

const app = Fastify();
app.post('/api/notify', async ({ body }) => body);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('SIGTERM', () => process.exit(0));
