import chevronIcon from 'virtual:icon/chevron-down';
import { Button, Menu, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { DateTimeField } from '#web/dashboard/fields/date-time-field.tsx';
import { clip } from '#web/dashboard/formats/clip.ts';
import {
  fromDateTimeField,
  nextMonday,
  nextMorning,
  toDateTimeField,
} from '#web/dashboard/formats/wall-clock.ts';
import { type RowActions, subjectOf } from './notification-actions.tsx';
import styles from './notification-drawer.module.css';

const hourMs = 3_600_000;
const choices = [
  ['1h', (now: number) => now + hourMs],
  ['4h', (now: number) => now + 4 * hourMs],
  ['morning', nextMorning],
  ['monday', nextMonday],
] as const;

/** The actions that the person's role allows. */
export function DrawerActions({
  notification,
  actions,
}: {
  notification: HistoryNotification;
  actions: RowActions;
}) {
  const { t } = useTranslation('history');
  const [choosing, setChoosing] = useState(false);
  const [acknowledging, setAcknowledging] = useState(false);
  const { timeZone } = useTenant();
  const muteFor = (until: number) => void actions.muteUntil(notification, new Date(until));
  const subject = notification.host !== null ? 'host' : notification.ip !== null ? 'ip' : 'title';
  return (
    <footer className={styles.foot}>
      {actions.mayClear && notification.acknowledged === null && (
        <Button onClick={() => setAcknowledging(true)}>{t('acknowledge')}</Button>
      )}
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
              {choices.map(([name, until]) => (
                <Menu.Item key={name} onClick={() => muteFor(until(Date.now(), timeZone))}>
                  {t(`mute.${name}`)}
                </Menu.Item>
              ))}
              <Menu.Item onClick={() => setChoosing(true)}>{t('mute.custom')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </div>
      )}
      <Button onClick={() => actions.explain(notification)}>{t('explain')}</Button>
      {acknowledging && (
        <Acknowledge
          onClose={() => setAcknowledging(false)}
          onAcknowledge={(note) => {
            setAcknowledging(false);
            void actions.acknowledge(notification, note);
          }}
        />
      )}
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

function Acknowledge({
  onClose,
  onAcknowledge,
}: {
  onClose: () => void;
  onAcknowledge: (note: string) => void;
}) {
  const { t } = useTranslation('history');
  const [note, setNote] = useState('');
  return (
    <Dialog onClose={onClose} title={t('acknowledgeTitle')}>
      <DialogForm
        action={t('acknowledge')}
        request={{ error: null, isPending: false }}
        onSubmit={() => onAcknowledge(note.trim())}
        onClose={onClose}
      >
        <TextInput
          label={t('note')}
          description={t('noteHint')}
          maxLength={500}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
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
  const [text, setText] = useState(() => toDateTimeField(nextMorning(Date.now(), timeZone), timeZone));
  const until = fromDateTimeField(text, timeZone) ?? 0;
  const isPast = until <= Date.now();
  return (
    <Dialog onClose={onClose} title={t('muteTitle', { subject: clip(subject, 60) })}>
      <DialogForm
        action={t('muteFor')}
        request={{ error: null, isPending: false }}
        isDisabled={isPast}
        onSubmit={() => onChoose(until)}
        onClose={onClose}
      >
        <DateTimeField
          label={t('until')}
          description={timeZone}
          value={text}
          onChange={setText}
          error={text !== '' && isPast && t('mutePast')}
          data-autofocus
        />
      </DialogForm>
    </Dialog>
  );
}
