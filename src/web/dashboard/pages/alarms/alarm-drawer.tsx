import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Alarm, AlarmDetail } from '#contract/history/alarm.ts';
import { alarmQuery } from '#web/dashboard/api/alarms.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import type { OnRefine } from '#web/dashboard/notifications/notification-row.tsx';
import { Escalation } from '../history/drawer-routing.tsx';
import { useRowActions } from '../history/notification-actions.tsx';
import drawer from '../history/notification-drawer.module.css';
import { NotificationDrawer } from '../history/notification-drawer.tsx';
import { ageMs } from './alarm-cells.tsx';
import styles from './alarm-drawer.module.css';
import type { AlarmActions, Target } from './use-alarm-actions.tsx';

/** One alarm: its newest notification, what is known of all of them, and what people did. */
export function AlarmDrawer({
  id,
  alarm,
  actions,
  onRefine,
  onSearch,
  onShow,
  onOpenNotification,
  onClose,
}: {
  id: string;
  /** The opened row, until the details have been read. */
  alarm: Alarm | undefined;
  actions: AlarmActions;
  onRefine: OnRefine;
  onSearch: (text: string) => void;
  /** Shows another alarm, by one of its notifications. */
  onShow: (id: string) => void;
  onOpenNotification: (id: string) => void;
  onClose: () => void;
}) {
  const { data: detail } = useQuery(alarmQuery(useTenant(), id));
  const known = detail ?? alarm;
  const rowActions = useRowActions();
  return (
    <NotificationDrawer
      id={known?.id ?? id}
      row={undefined}
      onClose={onClose}
      onRefine={onRefine}
      onOpen={onOpenNotification}
      onSearch={onSearch}
      actions={rowActions}
      about={
        known && (
          <>
            <AlarmFacts alarm={known} detail={detail} onShow={onShow} />
            {detail && detail.suppresses > 0 && <Suppressed detail={detail} onShow={onShow} />}
            {detail && <Events detail={detail} onShow={onShow} />}
            {detail && detail.notifications.length > 1 && (
              <Notifications detail={detail} onOpen={onOpenNotification} />
            )}
          </>
        )
      }
      foot={
        known && known.state !== 'ended' && actions.mayAct ? (
          <AlarmButtons alarm={known} actions={actions} />
        ) : null
      }
    />
  );
}

function AlarmFacts({
  alarm,
  detail,
  onShow,
}: {
  alarm: Alarm;
  detail: AlarmDetail | undefined;
  onShow: (id: string) => void;
}) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const { since, count, highestLevel, shownOn, owner, suppressedBy } = alarm;
  const note = alarm.shelved?.note ?? alarm.acknowledged?.note;
  return (
    <section className={drawer.section} aria-label={t('alarm')}>
      <h3>{t('alarm')}</h3>
      <p className={styles.state}>{useStateText(alarm)}</p>
      {note && (
        <p>
          <bdi>“{note}”</bdi>
        </p>
      )}
      {detail && <Escalation detail={detail} />}
      {suppressedBy && (
        <button type="button" className={drawer.link} onClick={() => onShow(suppressedBy.id)}>
          {t('showCause')}
        </button>
      )}
      <dl className={`${drawer.fields} ${styles.facts}`}>
        {owner && (
          <>
            <dt>{t('owner')}</dt>
            <dd>
              <bdi>{owner.name}</bdi>
            </dd>
          </>
        )}
        <dt>{t('fact.since')}</dt>
        <dd>
          {formats.dateTime(since)}{' '}
          <span className={drawer.quiet}>({formats.duration(ageMs(since, Date.now()))})</span>
        </dd>
        <dt>{t('fact.count')}</dt>
        <dd>{formats.number(count)}</dd>
        <dt>{t('fact.highest')}</dt>
        <dd>
          <LevelMark name={highestLevel} />
        </dd>
        {shownOn.length > 0 && (
          <>
            <dt>{t('fact.shownOn')}</dt>
            <dd>{shownOn.map(({ name }) => name).join(', ')}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function useStateText({ state, acknowledged, shelved, suppressedBy, owner }: Alarm): string {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  if (state === 'ended') return t('state.ended');
  if (state === 'shelved' && shelved)
    return t('state.shelved', { by: actorText(shelved.by), time: formats.dateTime(shelved.until) });
  if (state === 'suppressed')
    return suppressedBy?.title
      ? t('state.suppressed', { title: suppressedBy.title })
      : t('state.suppressedByAnother');
  if (!acknowledged) return owner ? t('state.assigned', { name: owner.name }) : t('state.open');
  const who = { by: actorText(acknowledged.by), ago: formats.relative(acknowledged.at) };
  return acknowledged.until === null
    ? t('state.acknowledged', who)
    : t('state.acknowledgedUntil', { ...who, time: formats.dateTime(acknowledged.until) });
}

/** Who Belfry itself is in the events of an alarm. */
const itself = 'belfry';

function Events({ detail: { events }, onShow }: { detail: AlarmDetail; onShow: (id: string) => void }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  if (events.length === 0) return null;
  const textOf = ({ event, by, until, note }: AlarmDetail['events'][number]) => {
    if (by === itself && (event === 'unacknowledge' || event === 'unshelve'))
      return t(`event.${event}Itself`);
    if (event === 'suppress')
      return note ? t('event.suppress', { title: note }) : t('event.suppressByAnother');
    if (event === 'assign' && note === null) return t('event.assignNobody', { by: actorText(by) });
    if (event === 'assign') return t('event.assign', { by: actorText(by), name: note ?? '' });
    return t(`event.${event}`, { by: actorText(by), time: formats.dateTime(until ?? 0) });
  };
  return (
    <section className={drawer.section} aria-label={t('events')}>
      <h3>{t('events')}</h3>
      <ul className={styles.list}>
        {events.map((each) => (
          <li key={`${each.at} ${each.event}`}>
            <time dateTime={each.at} title={formats.dateTime(each.at)}>
              {formats.dayTime(each.at)}
            </time>
            <span>
              {each.event === 'suppress' ? (
                <button type="button" className={drawer.link} onClick={() => onShow(each.by)}>
                  {textOf(each)}
                </button>
              ) : (
                textOf(each)
              )}
              {each.note !== null && each.event !== 'suppress' && each.event !== 'assign' && (
                <bdi className={styles.note}>“{each.note}”</bdi>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The alarms that are off the panels because of this one. */
function Suppressed({
  detail: { suppresses, suppressedAlarms },
  onShow,
}: {
  detail: AlarmDetail;
  onShow: (id: string) => void;
}) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const title = t('suppressesAlarms', { count: suppresses, number: formats.number(suppresses) });
  const unnamed = suppresses - suppressedAlarms.length;
  return (
    <section className={drawer.section} aria-label={title}>
      <h3>{title}</h3>
      <p className={drawer.quiet}>{t('suppressesAbout')}</p>
      <ul className={styles.names}>
        {suppressedAlarms.map(({ id, level, title: text, host }) => (
          <li key={id}>
            <button type="button" className={`${drawer.link} ${styles.open}`} onClick={() => onShow(id)}>
              <LevelMark name={level} iconOnly />
              <span dir="auto">{host === null || text.includes(host) ? text : `${text} · ${host}`}</span>
            </button>
          </li>
        ))}
      </ul>
      {unnamed > 0 && (
        <p className={drawer.quiet}>{t('moreSuppressed', { number: formats.number(unnamed) })}</p>
      )}
    </section>
  );
}

function Notifications({
  detail: { notifications },
  onOpen,
}: {
  detail: AlarmDetail;
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const count = notifications.length;
  const title = t('notifications', { count, number: formats.number(count) });
  return (
    <section className={drawer.section} aria-label={title}>
      <h3>{title}</h3>
      <ul className={styles.list}>
        {notifications.map(({ id, receivedAt, level, title: text }) => (
          <li key={id}>
            <time dateTime={receivedAt} title={formats.dateTime(receivedAt)}>
              {formats.dayTime(receivedAt)}
            </time>
            <button type="button" className={`${drawer.link} ${styles.open}`} onClick={() => onOpen(id)}>
              <LevelMark name={level} iconOnly />
              <span dir="auto">{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What can be done about an alarm in its state. */
function AlarmButtons({ alarm, actions }: { alarm: Alarm; actions: AlarmActions }) {
  const { t } = useTranslation('alarms');
  const me = usePerson().name;
  const target: Target = { count: 1, alarms: [alarm] };
  const { acknowledged, state } = alarm;
  return (
    <>
      {!acknowledged && state !== 'shelved' && state !== 'suppressed' && (
        <Button variant="filled" onClick={() => actions.ask({ kind: 'acknowledge', target })}>
          {t('short.acknowledge')}
        </Button>
      )}
      {acknowledged && acknowledged.by !== me && (
        <Button onClick={() => void actions.send('acknowledge', target, { take: true })}>
          {t('takeOver')}
        </Button>
      )}
      {acknowledged && acknowledged.by === me && (
        <Button onClick={() => actions.ask({ kind: 'note', target })}>{t('changeNote')}</Button>
      )}
      {acknowledged && (
        <Button onClick={() => void actions.send('unacknowledge', target)}>{t('short.unacknowledge')}</Button>
      )}
      {state === 'shelved' ? (
        <Button onClick={() => void actions.send('unshelve', target)}>{t('short.unshelve')}</Button>
      ) : (
        <Button onClick={() => actions.ask({ kind: 'shelve', target })}>{t('shelve')}</Button>
      )}
      <Button onClick={() => actions.ask({ kind: 'assign', target })}>{t('assign')}</Button>
      <Button onClick={() => actions.ask({ kind: 'clear', target })}>{t('short.clear')}</Button>
    </>
  );
}
