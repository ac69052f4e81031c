import panelIcon from 'virtual:icon/device-tv';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { livePanelsQuery, panelShowingQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { SideDrawer, useOpened } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { EmptyState, ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import type { PanelsSearch } from '#web/dashboard/search-params.ts';
import { AddPhoneDialog } from './add-phone.tsx';
import { AskAdminDialog, OpenPanelButton, PairDialog } from './pairing.tsx';
import { PanelForm } from './panel-form.tsx';
import { CommandRow, PanelList, PanelMark } from './panel-list.tsx';
import styles from './panels.module.css';
import { PhoneAccess } from './phone-access.tsx';
import { PhoneRules, PhoneTest } from './phone-check.tsx';

const route = '/signed-in/t/$tenant/panels';

/** The tenant's panels: their state, what they show, their commands. */
export function PanelsPage() {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { pair } = useSearch({ from: route });
  const [id, open] = useOpened();
  const navigate = useNavigate({ from: '/t/$tenant/panels' });
  const query = useQuery(livePanelsQuery(tenant));
  const { data: panels } = query;
  const show = (search: PanelsSearch, replace = false) => void navigate({ search, replace });
  const mayPair = tenant.may('admin');
  const openPairing = () => show({ pair: 'new' });
  const [addsPhone, setAddsPhone] = useState(false);
  return (
    <Page
      wide
      title={t('panels')}
      about={t('about')}
      actions={
        <>
          <OpenPanelButton />
          {mayPair && <Button onClick={() => setAddsPhone(true)}>{t('addPhone')}</Button>}
          {mayPair && <CreateButton onClick={openPairing}>{t('approve')}</CreateButton>}
        </>
      }
    >
      <PanelList
        query={query}
        empty={<EmptyPanels onApprove={mayPair ? openPairing : undefined} />}
        onOpen={open}
      />
      {id !== undefined && panels && (
        <PanelDrawer key={id} panel={panels.find((each) => each.id === id)} onClose={() => open(undefined)} />
      )}
      {addsPhone && panels && <AddPhoneDialog panels={panels} onClose={() => setAddsPhone(false)} />}
      {pair !== undefined && !mayPair && (
        <AskAdminDialog code={pair === 'new' ? '' : pair} onClose={() => show({}, true)} />
      )}
      {pair !== undefined && mayPair && panels && (
        <PairDialog
          panels={panels}
          code={pair === 'new' ? '' : pair}
          onClose={() => show({}, true)}
          onSetUp={(panel) => show({ id: panel }, true)}
        />
      )}
    </Page>
  );
}

/** The two ways to a first panel. Without `onApprove` the person may not approve one. */
function EmptyPanels({ onApprove }: { onApprove: (() => void) | undefined }) {
  const { t } = useTranslation('panels');
  const ways = (
    <div className={styles.ways}>
      <section>
        <h2>{t('wayTv')}</h2>
        <ol>
          <li>
            {t('wayTv1')} <span className="mono">{`${location.origin}/panel`}</span>
          </li>
          <li>{t('wayTv2')}</li>
          <li>{t('wayTv3')}</li>
        </ol>
        {onApprove ? (
          <div className={styles.waysAction}>
            <Button variant="filled" onClick={onApprove}>
              {t('approve')}
            </Button>
          </div>
        ) : (
          <p className="muted">{t('approveNeedsAdmin')}</p>
        )}
      </section>
      <section>
        <h2>{t('wayHere')}</h2>
        <ol>
          <li>{t('wayHere1')}</li>
          <li>{t('wayHere2')}</li>
        </ol>
        <div className={styles.waysAction}>
          <OpenPanelButton />
        </div>
      </section>
    </div>
  );
  return (
    <EmptyState icon={panelIcon} title={t('empty')} action={ways}>
      {t('emptyText')}
    </EmptyState>
  );
}

/** One panel: its state, what it shows, its commands, and how it draws. */
function PanelDrawer({ panel, onClose }: { panel: Panel | undefined; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const { may } = useTenant();
  return (
    <SideDrawer
      onClose={onClose}
      title={<bdi className={styles.title}>{panel?.name ?? t('panel')}</bdi>}
      classNames={{ title: styles.head ?? '' }}
    >
      {!panel && <EmptyState title={t('gone')}>{t('goneHint')}</EmptyState>}
      {panel && (
        <>
          <PanelState panel={panel} />
          {may('member') && panel.kind === 'screen' && <CommandRow panel={panel} />}
          {may('member') && panel.kind === 'phone' && <PhoneTest panel={panel} />}
          {panel.kind === 'phone' && (
            <>
              <PhoneAccess panel={panel} />
              <PhoneRules panel={panel} />
            </>
          )}
          <ShownList id={panel.id} />
          {may('admin') ? (
            <PanelForm panel={panel} onClose={onClose} />
          ) : (
            <section className={styles.part}>
              <RoleRemark what="mayNot" />
              <PanelFacts panel={panel} />
            </section>
          )}
        </>
      )}
    </SideDrawer>
  );
}

function PanelState({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const { lastSeenAt, online, lag, address, version } = panel;
  return (
    <p className={styles.summary}>
      <PanelMark panel={panel} />
      {lastSeenAt !== null && !online && (
        <span>
          {t('seen')} <Ago at={lastSeenAt} />
        </span>
      )}
      {lag > 0 && <span>{t('behind', { count: lag, n: formats.number(lag) })}</span>}
      {address && <span className="mono">{address}</span>}
      {version && <span className="mono">{version}</span>}
    </p>
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

/** How a panel is set, for those who may only look. */
function PanelFacts({ panel: { kind, tags, location, display, createdAt } }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const tenant = useTenant();
  const span = (from: string | undefined, until: string | undefined) =>
    from !== undefined && until !== undefined ? `${from}–${until}` : t('never');
  const { minLevel } = display;
  return (
    <Facts
      of={[
        [t('tags'), tags.length === 0 ? t('none') : tags.join(', ')],
        ...(kind === 'phone'
          ? []
          : ([
              [t('location'), <bdi key="location">{location ?? t('none')}</bdi>],
              [t('theme'), t(`theme.${display.scheme ?? 'dark'}`)],
              [t('scale'), `${Math.round((display.scale ?? 1) * 100)} %`],
              [t('maxCards'), display.maxCards ?? t('maxCardsNone')],
              [t('cardLabels'), display.labels?.join(', ') || t('none')],
              [t('sound'), t(display.sound === false ? 'soundOff' : 'soundOn')],
              [t('dim'), span(display.dimFrom, display.dimUntil)],
              [t('locale'), display.locale ?? t('localeBrowser')],
            ] as const)),
        [t('minLevel'), minLevel ? <LevelMark key="level" name={minLevel} /> : t('minLevelAll')],
        [t('quietHours'), span(display.quietFrom, display.quietUntil)],
        [t('timeZone'), display.timeZone ?? tenant.timeZone],
        [t('created'), formats.dateTime(createdAt)],
      ]}
    />
  );
}
