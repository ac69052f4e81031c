import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { panelShowingQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { useUnsavedQuestion } from '#web/dashboard/components/confirm.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { EmptyState, ErrorNotice, Remark } from '#web/dashboard/components/notice.tsx';
import { CommandRow } from './panel-commands.tsx';
import styles from './panel-drawer.module.css';
import { PanelForm } from './panel-form.tsx';
import { PanelMark } from './panel-list.tsx';

/** One panel: how it stands, what it shows, what it can be told, and how it draws. */
export function PanelDrawer({ panel, onClose }: { panel: Panel | undefined; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const [isDirty, setDirty] = useState(false);
  const { question, leave } = useUnsavedQuestion(isDirty);
  return (
    <SideDrawer
      onClose={onClose}
      title={<bdi className={styles.title}>{panel?.name ?? t('panel')}</bdi>}
      overlayProps={{ backgroundOpacity: 0.25 }}
      classNames={{ title: styles.head ?? '' }}
    >
      {panel ? (
        <Content panel={panel} onDirty={setDirty} onDeleted={() => leave(onClose)} />
      ) : (
        <EmptyState title={t('gone')}>{t('goneHint')}</EmptyState>
      )}
      {question}
    </SideDrawer>
  );
}

function Content({
  panel,
  onDirty,
  onDeleted,
}: {
  panel: Panel;
  onDirty: (isDirty: boolean) => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  return (
    <>
      <Standing panel={panel} />
      {tenant.may('member') && <CommandRow panel={panel} />}
      <ShownList id={panel.id} />
      {tenant.may('admin') ? (
        <PanelForm panel={panel} onDirty={onDirty} onDeleted={onDeleted} />
      ) : (
        <section className={styles.part}>
          <Remark>{t('mayNot', { ns: 'shell', role: t(`role.${tenant.role}`, { ns: 'shell' }) })}</Remark>
          <PanelFacts panel={panel} />
        </section>
      )}
    </>
  );
}

function Standing({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const parts = [
    panel.lastSeenAt !== null && !panel.online && (
      <span key="seen">
        {t('seen')} <Ago at={panel.lastSeenAt} />
      </span>
    ),
    panel.lag > 0 && <span key="lag">{t('behind', { count: panel.lag, n: formats.number(panel.lag) })}</span>,
    panel.address && (
      <span key="address" className="mono">
        {panel.address}
      </span>
    ),
    panel.version && (
      <span key="version" className="mono">
        {panel.version}
      </span>
    ),
  ].filter(Boolean);
  return (
    <p className={styles.standing}>
      <PanelMark panel={panel} />
      {parts}
    </p>
  );
}

/** How a panel is set, for those who may look. */
function PanelFacts({ panel: { tags, location, display, createdAt } }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const tenant = useTenant();
  const span = (from: string | undefined, until: string | undefined) =>
    from !== undefined && until !== undefined ? `${from}–${until}` : t('never');
  return (
    <Facts
      of={[
        [t('tags'), tags.length === 0 ? t('none', { ns: 'shell' }) : tags.join(', ')],
        [t('location'), <bdi key="location">{location ?? t('none', { ns: 'shell' })}</bdi>],
        [t('scheme'), t(`scheme.${display.scheme ?? 'dark'}`)],
        [t('scale'), `${Math.round((display.scale ?? 1) * 100)} %`],
        [t('maxCards'), display.maxCards ?? t('maxCardsNone')],
        [
          t('minLevel'),
          display.minLevel ? <LevelMark key="level" name={display.minLevel} /> : t('minLevelAll'),
        ],
        [t('sound'), t(display.sound === false ? 'soundOff' : 'soundOn')],
        [t('quietHours'), span(display.quietFrom, display.quietUntil)],
        [t('dim'), span(display.dimFrom, display.dimUntil)],
        [t('timeZone'), display.timeZone ?? tenant.timeZone],
        [t('locale'), display.locale ?? t('localeBrowser')],
        [t('created'), formats.dateTime(createdAt)],
      ]}
    />
  );
}

/** Everything the panel should be showing now, the most serious first. */
function ShownList({ id }: { id: string }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { data, error } = useQuery(panelShowingQuery(tenant, id));
  const count = data ? data.notifications.length + data.more : 0;
  return (
    <section className={styles.part} aria-labelledby="shown-now">
      <h3 id="shown-now">
        {t('shows')} {count > 0 && <span className="muted">{count}</span>}
      </h3>
      {error && !data && <ErrorNotice error={error} />}
      {data?.notifications.length === 0 && <p className="muted">{t('quietLong')}</p>}
      <ul className={styles.shown}>
        {data?.notifications.map((each) => (
          <li key={each.id}>
            <LevelMark name={each.level} iconOnly />
            <Link to="/t/$tenant/history" params={{ tenant: tenant.name }} search={{ id: each.id }}>
              <bdi>{each.title}</bdi>
            </Link>
            {each.host !== null && <bdi className={`${styles.host} mono muted`}>{each.host}</bdi>}
            <span className={`${styles.when} muted`}>
              <Ago at={each.receivedAt} />
            </span>
          </li>
        ))}
      </ul>
      {data !== undefined && data.more > 0 && <p className="muted">{t('andMore', { count: data.more })}</p>}
    </section>
  );
}
