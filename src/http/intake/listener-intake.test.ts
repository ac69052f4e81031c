import { expect, it } from 'vitest';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { Limits } from '#core/limits/rate-limits.ts';
import type { Authenticator } from '../callers/auth.ts';
import type { Services } from '../services.ts';
import { IntakeControl } from './intake-control.ts';
import { ListenerIntake } from './listener-intake.ts';
import type { NotifyLimits } from './notify-limits.ts';
import { IntakeGate } from './overload.ts';

it('refuses under overload as HTTP does, and adds nothing to what waits', async () => {
  let now = 0;
  const gate = new IntakeGate(() => now);
  const first = Array.from({ length: 300 }, () => gate.enter());
  let overloads = 0;
  const services = {
    intake: { accept: async () => ({ id: 'an-id' }) },
    limits: new Limits(),
    metrics: { overload: { inc: () => overloads++ } },
  } as unknown as Services;
  const rates = { load: () => undefined, take: () => undefined, refuseAnyLevel: () => undefined };
  const control = new IntakeControl(services, rates as unknown as NotifyLimits, gate);
  const intake = new ListenerIntake(services, {} as Authenticator, control);
  const accept = () => intake.accept({ tenant: 1 } as Sender, '', { level: 'info' } as CheckedFields, null);
  expect(await accept()).toBe('an-id');
  now = 1_000;
  const refusal = expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 });
  await expect(accept()).rejects.toEqual(refusal);
  await expect(intake.admit({ tenant: 1 } as Sender)).rejects.toEqual(refusal);
  expect(overloads).toBe(2);
  for (const one of first) gate.leave(one);
  expect(await accept()).toBe('an-id');
});
