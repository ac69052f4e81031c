import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { TenantPatch, Tenant as TenantSettings } from '#contract/tenant.ts';
import { tenantSettingsQuery } from '#web/dashboard/api/queries.ts';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Section } from '#web/dashboard/components/page.tsx';
import styles from './tenant.module.css';

/** A part of the tenant's settings, saved by itself. */
export function SettingsSection({
  title,
  hint,
  patch,
  isChanged,
  onSaved,
  children,
}: {
  title: string;
  hint: string;
  /** What to save; undefined while something is wrong. */
  patch: TenantPatch | undefined;
  isChanged: boolean;
  onSaved: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation('tenant');
  const { mutate, error, isPending, isSuccess, reset } = useSave(onSaved);
  useEffect(() => {
    if (isChanged) reset();
  }, [isChanged, reset]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && patch) mutate(patch);
  };
  return (
    <Section title={title}>
      <form onSubmit={submit} className={styles.part}>
        <p className={styles.hint}>{hint}</p>
        {children}
        {error && <ErrorNotice error={error} title={t('saveFailed', { ns: 'shell' })} />}
        <div className={styles.save}>
          <Button
            type="submit"
            variant={isChanged ? 'filled' : 'default'}
            loading={isPending}
            disabled={!isChanged || !patch}
            aria-label={`${t('save', { ns: 'shell' })}: ${title}`}
          >
            {t('save', { ns: 'shell' })}
          </Button>
          <span role="status" className="muted">
            {isSuccess && !isChanged ? t('saved', { ns: 'shell' }) : ''}
          </span>
        </div>
      </form>
    </Section>
  );
}

/** What the tenant is called and its clock stand in the session, too. */
function useSave(onSaved: () => void) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (patch: TenantPatch) => tenant.api.patch<TenantSettings>('/api/tenant', patch),
    onSuccess: async (settings) => {
      client.setQueryData(tenantSettingsQuery(tenant).queryKey, settings);
      onSaved();
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
}
