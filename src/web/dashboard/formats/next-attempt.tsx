import { useTranslation } from 'react-i18next';
import { useNow } from './ago.tsx';
import { useFormats } from './formats.ts';

/** In how long a channel is tried again. */
export function NextAttempt({ retryAt }: { retryAt: string | null }) {
  const { t } = useTranslation();
  const formats = useFormats();
  const leftMs = Date.parse(retryAt ?? '') - useNow(1_000);
  // The refreshed list may say later that it was tried.
  const isNow = !(leftMs >= 1_000);
  return isNow ? t('retryNow') : t('retryIn', { time: formats.duration(Math.ceil(leftMs / 1_000) * 1_000) });
}
