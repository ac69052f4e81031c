import chevronIcon from 'virtual:icon/chevron-down';
import { Button, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AcknowledgeAccepted, HistoryNotification } from '#contract/history/notification.ts';
import { useAlarmRequest } from '#web/dashboard/api/alarms.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { useAcknowledge, useClear } from '#web/dashboard/api/history.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { mute, unmute } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { showDone, showFailure, showToast } from '#web/dashboard/components/notice.tsx';
import { DateTimeField } from '#web/dashboard/fields/time-fields.tsx';
import { actorText, clip } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import {
  fromDateTimeField,
  nextMonday,
  nextMorning,
  toDateTimeField,
} from '#web/dashboard/formats/wall-clock.ts';
import { isCritical, sparingCritical, whenSame } from '#web/dashboard/query/mute-when.ts';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { NoteDialog } from './note-dialog.tsx';
import styles from './notification-drawer.module.css';

export interface RowActions {
  readonly mayClear: boolean;
  readonly mayMute: boolean;
  clear(row: HistoryNotification): Promise<void>;
  acknowledge(row: HistoryNotification, note: string): Promise<void>;
  /** Takes the acknowledgement back. */
  takeBack(row: HistoryNotification): Promise<void>;
  /** Without what is critical. For one that is critical itself, the rule opens in the editor. */
  muteUntil(row: HistoryNotification, until: Date): Promise<void>;
  /** Until the next 08:00 of the tenant's day. */
  muteUntilMorning(row: HistoryNotification): Promise<void>;
  explain(row: HistoryNotification): void;
}

/** What is shelved or suppressed stands as well. */
const canClear = ({ state }: HistoryNotification): boolean =>
  state === 'live' || state === 'shelved' || state === 'suppressed';

/** The subject of a mute: the host, else the IP, else the title. */
const subjectOf = ({ host, ip, title }: HistoryNotification): string => host ?? ip ?? title;

/** The actions on a notification; each reports its result. */
export function useRowActions(): RowActions {
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const navigate = useNavigate();
  const client = useQueryClient();
  const clear = useClear();
  const acknowledge = useAcknowledge();
  const takeBack = useAlarmRequest();
  const formats = useFormats();
  const levels = useLevels();
  return useMemo(() => {
    const showMessage = (message: string) => showToast({ message });
    const showError = (error: unknown) => showFailure({ title: t('failed'), message: sentenceOf(error) });
    const mayClear = tenant.may('member');
    const mayMute = tenant.may('admin');
    const toRules = (search: RulesSearch) =>
      void navigate({ to: '/t/$tenant/rules', params: { tenant: tenant.name }, search });
    const rulesChanged = () => client.invalidateQueries({ queryKey: [...tenant.key, 'rules'] });
    const muteUntil = async (row: HistoryNotification, until: Date) => {
      if (!mayMute) return void showMessage(t('mayNotMute'));
      const when = whenSame(row);
      // Only the editor says that what is critical is muted.
      if (isCritical(row.rank, levels)) return toRules({ muteWhen: when, until: until.toISOString() });
      const subject = subjectOf(row);
      const time = formats.dateTime(until);
      try {
        const name = t('muteName', { subject: clip(subject, 50), time });
        const rule = await mute(tenant.api, { name, when: sparingCritical(when, levels), until });
        void rulesChanged();
        const message = t('muted', { subject: clip(subject, 80), time });
        showDone(message, {
          label: t('undo'),
          onUndo: () =>
            void unmute(tenant.api, rule)
              .then(() => showMessage(t('unmuted', { subject: clip(subject, 80) })), showError)
              .finally(rulesChanged),
        });
      } catch (error) {
        showError(error);
      }
    };
    return {
      mayClear,
      mayMute,
      muteUntil,
      async clear(row) {
        if (!mayClear) return void showMessage(t('mayNotClear'));
        if (!canClear(row)) return void showMessage(t('notLive'));
        await clear(row).then(() => showMessage(t('cleared', { title: clip(row.title, 80) })), showError);
      },
      async acknowledge(row, note) {
        const onAcknowledged = ({ first, acknowledged: { by } }: AcknowledgeAccepted) =>
          showMessage(
            first
              ? t('acknowledged', { title: clip(row.title, 80) })
              : t('acknowledgedBefore', { by: actorText(by) }),
          );
        await acknowledge(row, note).then(onAcknowledged, showError);
      },
      async takeBack(row) {
        await takeBack({ action: 'unacknowledge', ids: [row.id] }).then(
          ({ failed: [failed] }) =>
            failed
              ? showError(new Error(failed.error))
              : showMessage(t('takenBack', { title: clip(row.title, 80) })),
          showError,
        );
      },
      muteUntilMorning: (row) => muteUntil(row, new Date(nextMorning(Date.now(), tenant.timeZone))),
      explain: (row) => toRules({ explain: row.id }),
    };
  }, [t, tenant, client, navigate, clear, acknowledge, takeBack, formats, levels]);
}

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
  const isOff = notification.state === 'shelved' || notification.state === 'suppressed';
  const subject = notification.host !== null ? 'host' : notification.ip !== null ? 'ip' : 'title';
  return (
    <footer className={styles.foot}>
      {actions.mayClear && notification.acknowledged === null && !isOff && (
        <Button onClick={() => setAcknowledging(true)}>{t('acknowledge')}</Button>
      )}
      {actions.mayClear && notification.acknowledged !== null && notification.state === 'live' && (
        <Button onClick={() => void actions.takeBack(notification)}>{t('takeBack')}</Button>
      )}
      {actions.mayClear && (
        <Button disabled={!canClear(notification)} onClick={() => void actions.clear(notification)}>
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
        <NoteDialog
          title={t('acknowledgeTitle')}
          action={t('acknowledge')}
          onClose={() => setAcknowledging(false)}
          onSubmit={(note) => {
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
