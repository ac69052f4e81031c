import revokedIcon from 'virtual:icon/ban';
import activeIcon from 'virtual:icon/circle-check';
import expiredIcon from 'virtual:icon/clock-off';
import expiringIcon from 'virtual:icon/hourglass-low';
import { useTranslation } from 'react-i18next';
import type { Key } from '../../../../contract/token.ts';
import { Icon } from '../../pieces/icon.tsx';
import { stateOf } from './credential-state.ts';
import styles from './tokens.module.css';

const icons = { active: activeIcon, expiring: expiringIcon, expired: expiredIcon, revoked: revokedIcon };

/** Whether it still opens the door: word, icon and colour. */
export function CredentialMark({ credential }: { credential: Pick<Key, 'revokedAt' | 'expiresAt'> }) {
  const { t } = useTranslation('tokens');
  const state = stateOf(credential, Date.now());
  return (
    <span className={`${styles.mark} ${styles[state]}`}>
      <Icon paths={icons[state]} size={15} />
      {t(`state.${state}`)}
    </span>
  );
}
