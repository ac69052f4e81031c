/** The least that Fastify can do with a notification: read its JSON, and answer with it. What intake is measured against. */
import Fastify from 'fastify';

const app = Fastify();
app.post('/api/notify', async ({ body }) => body);
console.log(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('SIGTERM', () => process.exit(0));
