import { useTranslation } from 'react-i18next';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import styles from './account.module.css';

/** Shown once, to be kept. */
export function BackupCodes({ codes }: { codes: readonly string[] }) {
  const { t } = useTranslation('account');
  return (
    <div className={styles.fields}>
      <p className={styles.hint}>{t('backupCodesHint')}</p>
      <CopyField text={codes.join('\n')} label={t('backupCodes')} />
    </div>
  );
}
