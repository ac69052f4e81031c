import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { SideDrawer } from '#web/dashboard/pieces/layers/side-drawer.tsx';
import { useUnsavedQuestion } from '#web/dashboard/pieces/layers/unsaved-question.tsx';
import { EmptyState, Remark } from '#web/dashboard/pieces/notice.tsx';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';
import { PanelMark } from '../panel-mark.tsx';
import { CommandRow } from './command-row.tsx';
import styles from './panel.module.css';
import { PanelFacts } from './panel-facts.tsx';
import { PanelForm } from './panel-form.tsx';
import { ShownList } from './shown-list.tsx';

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
