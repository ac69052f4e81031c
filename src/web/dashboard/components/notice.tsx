import alertIcon from 'virtual:icon/alert-triangle';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type ErrorTexts, sentenceOf } from '../api/call.ts';
import { useTenant } from '../api/tenant.tsx';
import { Icon } from './icon.tsx';
import styles from './notice.module.css';

/** An empty state: why it is empty, and what to do. */
export function EmptyState({
  icon,
  title,
  titleAs: Title = 'p',
  children,
  action,
}: {
  icon?: readonly string[];
  title: string;
  /** The heading of a page that has no other one. */
  titleAs?: 'p' | 'h1';
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      {icon && <Icon paths={icon} size={28} />}
      <Title className={styles.emptyTitle}>{title}</Title>
      {children !== undefined && <div className={styles.emptyText}>{children}</div>}
      {action !== undefined && <div className={styles.emptyAction}>{action}</div>}
    </div>
  );
}

/** The server's error, with a retry button where that is possible. */
export function ErrorNotice({
  error,
  title,
  texts,
  onRetry,
}: {
  error: unknown;
  title?: string;
  texts?: ErrorTexts;
  onRetry?: () => void;
}) {
  const { t } = useTranslation();
  return (
    <div className={styles.error} role="alert">
      <Icon paths={alertIcon} size={18} />
      <div>
        <strong>{title ?? t('loadFailed')}</strong>
        <div>{sentenceOf(error, texts)}</div>
      </div>
      {onRetry && (
        <Button size="xs" onClick={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
}

export function Remark({ children }: { children: ReactNode }) {
  return <p className={styles.remark}>{children}</p>;
}

/** Says what the person's role does not allow here. */
export function RoleRemark({ what }: { what: 'mayNot' | 'mayNotSee' }) {
  const { t } = useTranslation();
  const { role } = useTenant();
  return <Remark>{t(what, { role: t(`role.${role}`) })}</Remark>;
}
