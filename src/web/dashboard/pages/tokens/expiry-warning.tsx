import warnIcon from 'virtual:icon/hourglass-low';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { stateOf } from './credential-state.ts';
import styles from './tokens.module.css';

/** Names what ends within the next days, before whoever uses it is refused. */
export function ExpiryWarning({
  credentials,
  onOpen,
}: {
  credentials: readonly Omit<Key, 'role'>[];
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const ending = credentials.filter((each) => stateOf(each, Date.now()) === 'expiring');
  if (ending.length === 0) return null;
  return (
    <div className={styles.warning}>
      <Icon paths={warnIcon} size={18} />
      <div>
        {t('endingSoon', { count: ending.length })}{' '}
        {ending.map(({ id, name, expiresAt }, n) => (
          <span key={id}>
            {n > 0 && ', '}
            <button type="button" className={styles.link} onClick={() => onOpen(id)}>
              <bdi>{name}</bdi>
            </button>{' '}
            {expiresAt !== null && formats.relative(expiresAt)}
          </span>
        ))}
      </div>
    </div>
  );
}
