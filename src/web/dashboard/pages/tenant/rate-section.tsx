import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import { type RateDraft, RateField, rateDraftOf, rateOf } from '#web/dashboard/pieces/fields/rate-field.tsx';
import { SettingsSection } from './settings-section.tsx';
import styles from './tenant.module.css';

/** How fast all senders of the tenant together may send. */
export function RateSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<RateDraft>();
  const shown = draft ?? rateDraftOf(settings.rate);
  const rate = rateOf(shown);
  return (
    <SettingsSection
      title={t('rate')}
      hint={t('rateHint')}
      patch={rate === undefined ? undefined : { rate }}
      isChanged={rate === undefined || JSON.stringify(rate) !== JSON.stringify(settings.rate)}
      onSaved={() => setDraft(undefined)}
    >
      <div className={styles.wideField}>
        <RateField label={t('rateLabel')} hint={t('rateCritical')} value={shown} onChange={setDraft} />
      </div>
    </SettingsSection>
  );
}
