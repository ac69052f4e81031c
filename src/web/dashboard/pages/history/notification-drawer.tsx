import closeIcon from 'virtual:icon/x';
import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/call.ts';
import { patternFieldNames } from '#contract/history/fields.ts';
import { labelPair } from '#contract/history/labels.ts';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { notificationQuery } from '#web/dashboard/api/history.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ExternalLink } from '#web/dashboard/components/external-link.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/notification-row.tsx';
import type { RefineKey } from '#web/dashboard/query/query-words.ts';
import { DrawerAnswer, ownSenderOf } from './drawer-answer.tsx';
import { Instructions } from './drawer-instructions.tsx';
import { ChannelDeliveryList, DeliveryReceipts, RelatedCounts } from './drawer-receipts.tsx';
import { RoutingReason } from './drawer-routing.tsx';
import { DrawerActions, type RowActions } from './notification-actions.tsx';
import styles from './notification-drawer.module.css';

interface DrawerProps {
  readonly id: string;
  /** The opened row: shown until the details have been read. */
  readonly row: HistoryNotification | undefined;
  readonly onClose: () => void;
  readonly onRefine: OnRefine;
  readonly onOpen: (id: string) => void;
  readonly onSearch: (text: string) => void;
  readonly actions: RowActions;
  /** Shown below its message; also says the next step of its escalation, and what suppresses it. */
  readonly about?: ReactNode;
  /** In the place of its own actions. */
  readonly foot?: ReactNode;
}

/** One notification: its fields, its routing, its deliveries, and what can be done about it. */
export function NotificationDrawer(props: DrawerProps) {
  const { id, row, onClose, onRefine, onOpen, onSearch, actions, about, foot } = props;
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const { data: detail, error, refetch } = useQuery(notificationQuery(tenant, id));
  const isGone = isCode(error, 'not-found');
  const notification = isGone ? undefined : (detail ?? row);
  const close = useRef<HTMLButtonElement>(null);
  useFocusAsSheet(close);
  return (
    <aside className={styles.drawer} aria-label={t('field.notification')}>
      <header className={styles.head}>
        {notification && (
          <>
            <RefineChip refineKey="level" value={notification.level} onRefine={onRefine}>
              <LevelMark name={notification.level} />
            </RefineChip>
            <DrawerTime at={notification.receivedAt} />
          </>
        )}
        <ActionIcon ref={close} size="md" className={styles.close} onClick={onClose} aria-label={t('close')}>
          <Icon paths={closeIcon} />
        </ActionIcon>
      </header>
      <div className={styles.body}>
        {notification ? (
          <>
            <h2 className={styles.title} dir="auto">
              {notification.title}
            </h2>
            <p className={styles.message}>{notification.message}</p>
            <Instructions notification={notification} instructions={detail?.instructions ?? []} />
            {about}
            {(about === undefined || notification.state !== 'suppressed') && (
              <DrawerAnswer
                notification={notification}
                deliveries={detail?.deliveries ?? []}
                suppressedBy={about === undefined ? (detail?.suppressedBy ?? null) : null}
                onOpen={onOpen}
              />
            )}
            <DrawerFields notification={notification} onRefine={onRefine} />
            {error && !detail && <ErrorNotice error={error} onRetry={() => void refetch()} />}
            {detail && (
              <>
                <RoutingReason detail={detail} hasEscalation={about === undefined} />
                <DeliveryReceipts detail={detail} onRefine={onRefine} />
                <ChannelDeliveryList detail={detail} />
                <RelatedCounts notification={detail} onSearch={onSearch} />
              </>
            )}
          </>
        ) : isGone ? (
          <EmptyState title={t('gone')}>{t('goneHint')}</EmptyState>
        ) : (
          error && <ErrorNotice error={error} onRetry={() => void refetch()} />
        )}
      </div>
      {foot === undefined
        ? notification && <DrawerActions notification={notification} actions={actions} />
        : foot && <footer className={styles.foot}>{foot}</footer>}
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

/** On a phone it covers the list, and gets the focus. */
function useFocusAsSheet(target: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    if (matchMedia('(max-width: 1000px)').matches) target.current?.focus();
  }, [target]);
}

const otherTexts = patternFieldNames.filter((name) => name !== 'host');

/** The fields of a notification; a click on a value refines the search. */
function DrawerFields({ notification, onRefine }: { notification: HistoryNotification; onRefine: OnRefine }) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { host, ip, sourceIp, token, origin, url, labels, ttl, sent, level, rules, position } = notification;
  const pairs = Object.entries(labels).map(([name, value]) => labelPair(name, value));
  const ownSender = ownSenderOf(origin);
  const chip = (refineKey: RefineKey, value: string, name?: string) => (
    <RefineChip refineKey={refineKey} value={value} name={name} onRefine={onRefine} />
  );
  return (
    <dl className={styles.fields}>
      {host !== null && <Field name={t('field.host')} mono value={chip('host', host)} />}
      {ip !== null && <Field name={t('field.ip')} mono value={chip('ip', ip)} />}
      <Field name={t('field.sourceIp')} mono value={chip('source', sourceIp)} />
      <Field name={t('field.token')} value={chip('token', token.id, token.name)} />
      {origin !== null && origin !== token.id && (
        <Field
          name={t('field.origin')}
          value={chip('token', origin, ownSender && t(`origin.${ownSender}`))}
        />
      )}
      <Field
        name={t('field.display')}
        value={ttl === 0 ? t('untilCleared') : t('shownFor', { time: formats.duration(ttl) })}
      />
      {otherTexts.map((name) => {
        const value = notification[name];
        return (
          value !== null && <Field key={name} name={t(`field.${name}`)} mono value={chip(name, value)} />
        );
      })}
      {pairs.length > 0 && (
        <Field
          name={t('field.labels')}
          mono
          value={
            <ul className={styles.labels}>
              {pairs.map((pair) => (
                <li key={pair}>{chip('label', pair)}</li>
              ))}
            </ul>
          }
        />
      )}
      {sent.level !== level && (
        <Field name={t('field.sentAs')} value={t('sentLevel', { level: sent.level })} />
      )}
      {rules.length > 0 && (
        <Field
          name={t('field.rules')}
          value={rules.map((rule) => <div key={rule.id}>{chip('rule', rule.id, rule.name)}</div>)}
        />
      )}
      {url !== null && <Field name={t('field.url')} value={<ExternalLink url={url} />} />}
      <Field name={t('field.position')} value={<span className={styles.quiet}>{position}</span>} />
    </dl>
  );
}

function Field({ name, value, mono = false }: { name: string; value: ReactNode; mono?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd data-mono={mono}>{value}</dd>
    </>
  );
}
