import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import { SettingsSection } from './settings-section.tsx';
import styles from './tenant.module.css';

export function NameSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<string>();
  const title = draft ?? settings.title;
  const isMissing = title.trim() === '';
  return (
    <SettingsSection
      title={t('nameSection')}
      hint={t('nameHint')}
      patch={isMissing ? undefined : { title: title.trim() }}
      isChanged={title.trim() !== settings.title}
      onSaved={() => setDraft(undefined)}
    >
      <TextInput
        className={styles.field}
        label={t('tenantTitle')}
        value={title}
        maxLength={100}
        error={isMissing && t('titleMissing')}
        onChange={(event) => setDraft(event.currentTarget.value)}
      />
      <p className={styles.hint}>
        <span className="mono">{settings.name}</span> {t('shortName')}
      </p>
    </SettingsSection>
  );
}
