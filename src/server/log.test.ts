import { expect, it } from 'vitest';
import { createLogger } from './log.ts';

it.each(['authorization', 'cookie', 'x-gotify-key', 'x-gitlab-token'])(
  'a line never holds the header %s',
  (header) => {
    const lines: string[] = [];
    const log = createLogger({ level: 'info', format: 'json' }, { write: (line) => lines.push(line) });
    log.info({ headers: { [header]: 'secret' }, req: { headers: { [header]: 'secret' } } }, 'a request');
    expect(lines.join()).toContain('[redacted]');
    expect(lines.join()).not.toContain('secret');
  },
);
