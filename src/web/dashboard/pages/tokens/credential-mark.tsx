import revokedIcon from 'virtual:icon/ban';
import activeIcon from 'virtual:icon/circle-check';
import expiredIcon from 'virtual:icon/clock-off';
import expiringIcon from 'virtual:icon/hourglass-low';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { StateMark } from '#web/dashboard/pieces/state-mark.tsx';
import { stateOf } from './credential-state.ts';

const looks = {
  active: { icon: activeIcon, tone: 'good' },
  expiring: { icon: expiringIcon, tone: 'doubtful' },
  expired: { icon: expiredIcon, tone: 'quiet' },
  revoked: { icon: revokedIcon, tone: 'quiet' },
} as const;

/** Whether it still opens the door: word, icon and colour. */
export function CredentialMark({ credential }: { credential: Pick<Key, 'revokedAt' | 'expiresAt'> }) {
  const { t } = useTranslation('tokens');
  const state = stateOf(credential, Date.now());
  return <StateMark {...looks[state]}>{t(`state.${state}`)}</StateMark>;
}
