import { useTranslation } from 'react-i18next';
import type { Channel, ChannelState } from '#contract/channel.ts';
import { useNow } from '#web/dashboard/components/ago.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';

/** Why a channel fails, and when it is tried again; nothing for one that works. */
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
      <bdi>{state.lastError}</bdi> {state.pending > 0 && <NextAttempt {...state} />}
    </p>
  );
}

function NextAttempt({ retryAt }: Pick<ChannelState, 'retryAt'>) {
  const { t } = useTranslation('channels');
  const formats = useFormats();
  const leftMs = Date.parse(retryAt ?? '') - useNow(1_000);
  // The refreshed list may say later that it was tried.
  const isNow = !(leftMs >= 1_000);
  return isNow ? t('retryNow') : t('retryIn', { time: formats.duration(Math.ceil(leftMs / 1_000) * 1_000) });
}
