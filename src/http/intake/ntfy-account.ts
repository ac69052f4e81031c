import { NtfyAccount, NtfyHealth } from '#contract/integrations/integration.ts';
import { route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';

/** What clients of ntfy ask before they publish: whether the server is there, and whether it knows them. */
export function ntfyAccountRoutes(app: App): void {
  app.get(
    '/ntfy/v1/health',
    route(
      'public',
      { tags: ['sending'], summary: 'Whether the server answers, as of ntfy', response: { 200: NtfyHealth } },
      { rateLimit: 'none' },
    ),
    async () => ({ healthy: true as const }),
  );
  app.get(
    '/ntfy/v1/account',
    route(
      { scope: 'notify' },
      {
        summary: 'The account of the caller, as of ntfy: its token',
        response: { 200: NtfyAccount },
      },
      { senderCredential: true, urlToken: 'if allowed' },
    ),
    async ({ principal }) => ({ username: principal.name, role: 'user' as const }),
  );
}
