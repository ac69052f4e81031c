import type { Channel } from '#contract/channels/channel.ts';
import { NextAttempt } from '#web/dashboard/formats/next-attempt.tsx';

/** Why a channel fails (only admins learn that), and when it is tried again; nothing for one that works. */
export function ChannelProblem({
  channel: { enabled, state },
  className,
}: {
  channel: Channel;
  className?: string | undefined;
}) {
  if (!enabled || state.failingSince === null) return null;
  return (
    <p className={className}>
      {state.lastError !== null && <bdi>{state.lastError}</bdi>}
      {state.lastError !== null && state.pending > 0 && ' · '}
      {state.pending > 0 && <NextAttempt retryAt={state.retryAt} />}
    </p>
  );
}
