import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openOtlpTracing } from './otlp-tracing.ts';

test('a collector that answers slowly gets one batch at a time, and what waits for it is bounded', async () => {
  const slow = Promise.withResolvers<void>();
  let received = 0;
  let underWay = 0;
  let mostUnderWay = 0;
  await using collector = createServer(async (request, response) => {
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    const body = JSON.parse((await buffer(request)).toString());
    received += body.resourceSpans[0].scopeSpans[0].spans.length;
    await slow.promise;
    underWay -= 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const tracing = openOtlpTracing({
    endpoint: `http://127.0.0.1:${port}`,
    headers: {},
    resource: { 'service.name': 's' },
    version: '1',
    ratio: 1,
    onProblem: () => undefined,
  });
  for (let i = 0; i < 10_000; i += 1) tracing.tracer.start('work').end();
  slow.resolve();
  await tracing.close();
  expect(received).toBe(512 + 4_096);
  expect(mostUnderWay).toBe(1);
});
