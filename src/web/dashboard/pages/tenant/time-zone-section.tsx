import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import { TimeZoneSelect, timeIn } from '#web/dashboard/pieces/fields/time-zone-select.tsx';
import { SettingsSection } from './settings-section.tsx';
import styles from './tenant.module.css';

export function TimeZoneSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<string>();
  const zone = draft ?? settings.timeZone;
  return (
    <SettingsSection
      title={t('timeZone')}
      hint={t('timeZoneHint')}
      patch={zone === '' ? undefined : { timeZone: zone }}
      isChanged={zone !== settings.timeZone}
      onSaved={() => setDraft(undefined)}
    >
      <div className={styles.field}>
        <TimeZoneSelect label={t('timeZoneLabel')} value={zone} onChange={setDraft} />
      </div>
      <p className={styles.hint}>
        {t('timeThere')} <Clock zone={zone} />
      </p>
    </SettingsSection>
  );
}

function Clock({ zone }: { zone: string }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <strong>{timeIn(zone, i18n.language, now)}</strong>;
}
