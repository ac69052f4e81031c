import { expect, it } from 'vitest';
import { retryKeys } from '#test/support/integration.ts';
import { github } from './github.ts';

it('a signed body that is sent again with another delivery is a repeat', () => {
  const body = { ref: 'refs/heads/main', commits: [{ message: 'Fix' }], repository: { full_name: 'a/b' } };
  const keys = (delivery: string, signature?: string) =>
    retryKeys(github, body, {
      headers: {
        'X-GitHub-Event': 'push',
        'X-GitHub-Delivery': delivery,
        ...(signature !== undefined && { 'X-Hub-Signature-256': signature }),
      },
    });
  expect(keys('1', 'sha256=a')).toHaveLength(1);
  expect(keys('1', 'sha256=a')).toEqual(keys('2', 'sha256=a'));
  expect(keys('1', 'sha256=a')).not.toEqual(keys('1', 'sha256=b'));
  expect(keys('1')).not.toEqual(keys('2'));
});
