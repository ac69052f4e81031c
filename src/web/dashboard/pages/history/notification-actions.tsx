import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { createElement, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { AcknowledgeAccepted, HistoryNotification } from '#contract/history/notification.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { useAcknowledge, useClear } from '#web/dashboard/api/history.ts';
import { mute, unmute, whenSame } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { showFailure, showToast } from '#web/dashboard/components/toast.tsx';
import { actorText } from '#web/dashboard/formats/actor.ts';
import { clip } from '#web/dashboard/formats/clip.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { nextMorning } from '#web/dashboard/formats/wall-clock.ts';
import styles from './undo.module.css';

export interface RowActions {
  readonly mayClear: boolean;
  readonly mayMute: boolean;
  clear(row: HistoryNotification): Promise<void>;
  acknowledge(row: HistoryNotification, note: string): Promise<void>;
  muteUntil(row: HistoryNotification, until: Date): Promise<void>;
  /** Until the next 08:00 of the tenant's day. */
  muteUntilMorning(row: HistoryNotification): Promise<void>;
  explain(row: HistoryNotification): void;
}

/** The subject of a mute: the host, else the IP, else the title. */
export const subjectOf = ({ host, ip, title }: HistoryNotification): string => host ?? ip ?? title;

/** The actions on a notification; each reports its result. */
export function useRowActions(): RowActions {
  const { t } = useTranslation('history');
  const tenant = useTenant();
  const navigate = useNavigate();
  const client = useQueryClient();
  const clear = useClear();
  const acknowledge = useAcknowledge();
  const formats = useFormats();
  return useMemo(() => {
    const showMessage = (message: string) => showToast({ message });
    const showError = (error: unknown) => showFailure({ title: t('failed'), message: sentenceOf(error) });
    const mayClear = tenant.may('member');
    const mayMute = tenant.may('admin');
    const rulesChanged = () => client.invalidateQueries({ queryKey: [...tenant.key, 'rules'] });
    const muteUntil = async (row: HistoryNotification, until: Date) => {
      if (!mayMute) return void showMessage(t('mayNotMute'));
      const subject = subjectOf(row);
      const time = formats.dateTime(until);
      try {
        const name = t('muteName', { subject: clip(subject, 50), time });
        const rule = await mute(tenant.api, { name, when: whenSame(row), until });
        void rulesChanged();
        const message = t('muted', { subject: clip(subject, 80), time });
        const hide = showToast({
          autoClose: 12_000,
          message: createElement(Undo, {
            message,
            label: t('undo'),
            onUndo: () => {
              hide();
              unmute(tenant.api, rule)
                .then(() => showMessage(t('unmuted', { subject: clip(subject, 80) })), showError)
                .finally(rulesChanged);
            },
          }),
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
        if (row.state !== 'live') return void showMessage(t('notLive'));
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
      muteUntilMorning: (row) => muteUntil(row, new Date(nextMorning(Date.now(), tenant.timeZone))),
      explain: (row) =>
        void navigate({
          to: '/t/$tenant/rules',
          params: { tenant: tenant.name },
          search: { explain: row.id },
        }),
    };
  }, [t, tenant, client, navigate, clear, acknowledge, formats]);
}

/** A message with an undo button. */
function Undo({ message, label, onUndo }: { message: string; label: string; onUndo: () => void }) {
  return (
    <span className={styles.undo}>
      <span>{message}</span>
      <Button size="xs" onClick={onUndo}>
        {label}
      </Button>
    </span>
  );
}
