import { noTexts } from '#contract/history/fields.ts';
import { newNotificationId } from '#core/intake/idempotency.ts';
import type { NotificationDraft } from '#core/log/log.ts';
import type { Route } from '#core/log/route.ts';
import type { Target } from '#core/log/target.ts';

/** A decision of the rules; what is not given of the target is nobody. */
export const routeTo = (target: Partial<Target>, over: Partial<Route> = {}): Route => ({
  revision: 1,
  rules: [],
  muted: false,
  target: { all: false, ids: [], tags: [], ...target },
  ...over,
});

/** As intake has it: the same decision is the same object. */
const toEveryone = routeTo({ all: true });

/** A notification for everyone that stays until cleared; give what matters. */
export const draft = (over: Partial<NotificationDraft> = {}): NotificationDraft => ({
  ...noTexts,
  id: newNotificationId(over.receivedAt ?? Date.now()),
  receivedAt: Date.now(),
  title: 't',
  message: 'm',
  level: 'error',
  rank: 40,
  ttl: 0,
  sentLevel: 'error',
  sentTtl: null,
  expiresAt: null,
  sourceIp: '127.0.0.1',
  tokenId: 'tokentoken',
  route: toEveryone,
  throttledOn: null,
  throttleCount: 0,
  ...over,
});

/** One with a value in every field, so that a field that is forgotten somewhere is missed by a test. */
export const wholeDraft = (
  over: Partial<NotificationDraft> = {},
): { readonly [K in keyof NotificationDraft]: NonNullable<NotificationDraft[K]> } => {
  const receivedAt = over.receivedAt ?? Date.now();
  const whole = {
    id: newNotificationId(receivedAt),
    receivedAt,
    title: 'Türe offen 🚪',
    message: 'Zeile\nzwei',
    level: 'error',
    rank: 40,
    ttl: 5_000,
    sentLevel: 'warning',
    sentTtl: 9_000,
    expiresAt: receivedAt + 5_000,
    ip: '10.0.0.5',
    host: 'DB-01',
    key: 'Key.1',
    url: 'https://example.org/x',
    labels: '{"Site":"Plant 2, west=1","empty":"","env":"prod"}',
    sourceIp: '2001:db8::1',
    tokenId: 'tokentoken',
    route: routeTo(
      { all: true, ids: ['p1'], tags: ['noc'] },
      { revision: 7, rules: [{ id: 'r', name: 'Night' }] },
    ),
    throttledOn: newNotificationId(receivedAt),
    throttleCount: 3,
  };
  return { ...whole, ...over } as typeof whole;
};
