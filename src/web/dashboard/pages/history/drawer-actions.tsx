import chevronIcon from 'virtual:icon/chevron-down';
import { Button, Menu } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DateTimeField } from '#web/dashboard/components/date-time-field.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog } from '#web/dashboard/components/layers.tsx';
import {
  fromDateTimeField,
  nextClock,
  nextMonday,
  toDateTimeField,
} from '#web/dashboard/components/wall-clock.ts';
import { type RowActions, subjectOf } from './notification-actions.tsx';
import styles from './notification-drawer.module.css';

const hourMs = 3_600_000;

/** What can be done about it, as far as the person's role goes. */
export function DrawerActions({
  notification,
  actions,
}: {
  notification: HistoryNotification;
  actions: RowActions;
}) {
  const { t } = useTranslation('history');
  const [choosing, setChoosing] = useState(false);
  const { timeZone } = useTenant();
  const muteFor = (until: number) => void actions.muteUntil(notification, new Date(until));
  const subject = notification.host !== null ? 'host' : notification.ip !== null ? 'ip' : 'title';
  return (
    <footer className={styles.foot}>
      {actions.mayClear && (
        <Button disabled={notification.state !== 'live'} onClick={() => void actions.clear(notification)}>
          {t('clear')}
        </Button>
      )}
      {actions.mayMute && (
        <div className={styles.split}>
          <Button onClick={() => void actions.muteUntilMorning(notification)}>{t(`mute.${subject}`)}</Button>
          <Menu position="top-end" width={200}>
            <Menu.Target>
              <Button aria-label={t('muteOther')} title={t('muteOther')}>
                <Icon paths={chevronIcon} size={14} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Label>{t('muteFor')}</Menu.Label>
              <Menu.Item onClick={() => muteFor(Date.now() + hourMs)}>{t('mute.1h')}</Menu.Item>
              <Menu.Item onClick={() => muteFor(Date.now() + 4 * hourMs)}>{t('mute.4h')}</Menu.Item>
              <Menu.Item onClick={() => muteFor(nextClock(Date.now(), timeZone, 8))}>
                {t('mute.morning')}
              </Menu.Item>
              <Menu.Item onClick={() => muteFor(nextMonday(Date.now(), timeZone, 8))}>
                {t('mute.monday')}
              </Menu.Item>
              <Menu.Item onClick={() => setChoosing(true)}>{t('mute.custom')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </div>
      )}
      <Button onClick={() => actions.explain(notification)}>{t('explain')}</Button>
      {choosing && (
        <MuteUntil
          subject={subjectOf(notification)}
          onClose={() => setChoosing(false)}
          onChoose={(until) => {
            setChoosing(false);
            muteFor(until);
          }}
        />
      )}
    </footer>
  );
}

function MuteUntil({
  subject,
  onClose,
  onChoose,
}: {
  subject: string;
  onClose: () => void;
  onChoose: (until: number) => void;
}) {
  const { t } = useTranslation('history');
  const { timeZone } = useTenant();
  const [text, setText] = useState(() => toDateTimeField(nextClock(Date.now(), timeZone, 8), timeZone));
  const until = fromDateTimeField(text, timeZone);
  const isPast = until === undefined || until <= Date.now();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (until !== undefined && !isPast) onChoose(until);
  };
  const shown = subject.length > 60 ? `${subject.slice(0, 60)}…` : subject;
  return (
    <Dialog onClose={onClose} title={t('muteTitle', { subject: shown })}>
      <form onSubmit={submit} className={styles.mute}>
        <DateTimeField
          label={t('until')}
          description={timeZone}
          value={text}
          onChange={setText}
          error={text !== '' && isPast ? t('mutePast') : undefined}
          data-autofocus
        />
        <Button type="submit" variant="filled" disabled={isPast}>
          {t('muteDo')}
        </Button>
      </form>
    </Dialog>
  );
}
