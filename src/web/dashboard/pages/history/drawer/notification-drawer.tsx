import closeIcon from 'virtual:icon/x';
import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/api-error.ts';
import type { HistoryNotification } from '#contract/notification.ts';
import { notificationQuery } from '#web/dashboard/api/history.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/refine-chip.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import type { RowActions } from '../row-actions.ts';
import { DrawerActions } from './actions.tsx';
import { DrawerFields } from './fields.tsx';
import styles from './notification-drawer.module.css';
import { DrawerProof } from './proof.tsx';
import { DrawerSame } from './same.tsx';
import { DrawerWhy } from './why.tsx';

export interface DrawerProps {
  readonly id: string;
  /** The row that was opened: shown at once, before everything about it is here. */
  readonly row: HistoryNotification | undefined;
  readonly onClose: () => void;
  readonly onRefine: OnRefine;
  readonly onOpen: (id: string) => void;
  readonly onSearch: (text: string) => void;
  readonly actions: RowActions;
}

/** One notification: what it says, why it is or is not on which panels, what became of it, what can be done. */
export function NotificationDrawer({ id, row, onClose, onRefine, onOpen, onSearch, actions }: DrawerProps) {
  const { t } = useTranslation('history');
  const { t: general } = useTranslation();
  const tenant = useTenant();
  const { data: detail, error, refetch } = useQuery(notificationQuery(tenant, id));
  const isGone = isCode(error, 'not-found');
  const notification = isGone ? undefined : (detail ?? row);
  const close = useRef<HTMLButtonElement>(null);
  useFocusAsSheet(close);
  return (
    <aside className={styles.drawer} aria-label={t('detail')}>
      <header className={styles.head}>
        {notification && (
          <>
            <RefineChip refineKey="level" value={notification.level} onRefine={onRefine}>
              <LevelMark name={notification.level} />
            </RefineChip>
            <DrawerTime at={notification.receivedAt} />
          </>
        )}
        <ActionIcon
          ref={close}
          size="md"
          className={styles.close}
          onClick={onClose}
          aria-label={general('close')}
        >
          <Icon paths={closeIcon} />
        </ActionIcon>
      </header>
      <div className={styles.body}>
        {notification ? (
          <>
            <h2 className={styles.title}>
              <bdi>{notification.title}</bdi>
            </h2>
            <p className={styles.message}>{notification.message}</p>
            <DrawerFields notification={notification} onRefine={onRefine} />
            {error && !detail && <ErrorNotice error={error} onRetry={() => void refetch()} />}
            {detail && (
              <>
                <DrawerWhy detail={detail} onOpen={onOpen} />
                <DrawerProof detail={detail} onRefine={onRefine} />
                <DrawerSame notification={detail} onSearch={onSearch} />
              </>
            )}
          </>
        ) : isGone ? (
          <EmptyState title={t('gone')}>{t('goneHint')}</EmptyState>
        ) : (
          error && <ErrorNotice error={error} onRetry={() => void refetch()} />
        )}
      </div>
      {notification && <DrawerActions notification={notification} actions={actions} />}
    </aside>
  );
}

function DrawerTime({ at }: { at: string }) {
  const formats = useFormats();
  return (
    <time className={styles.time} dateTime={at} title={formats.dateTime(at)}>
      {formats.dayClock(at)}
    </time>
  );
}

/** Where it covers the list, as on a phone, the focus goes with it. */
function useFocusAsSheet(target: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    if (matchMedia('(max-width: 1000px)').matches) target.current?.focus();
  }, [target]);
}
