import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PasswordChange } from '#contract/account.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { NewPasswordField, PasswordField } from '#web/dashboard/pieces/fields/password-field.tsx';
import { showToast } from '#web/dashboard/pieces/layers/toast.ts';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { Section } from '#web/dashboard/pieces/page.tsx';
import styles from './account.module.css';

const empty: PasswordChange = { currentPassword: '', newPassword: '' };

export function PasswordSection() {
  const { t } = useTranslation('account');
  const person = usePerson();
  const client = useQueryClient();
  const [passwords, setPasswords] = useState(empty);
  const change = useMutation({
    mutationFn: (body: PasswordChange) => personApi.post('/api/account/password', body),
    onSuccess: async () => {
      setPasswords(empty);
      showToast({ message: t('passwordChanged') });
      await client.invalidateQueries({ queryKey: ['account', 'sessions'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(passwords);
  };
  return (
    <Section title={t('password')}>
      <p className={styles.hint}>{t('passwordHint')}</p>
      <form className={styles.fields} onSubmit={submit}>
        {change.error && <ErrorNotice error={change.error} title={t('passwordFailed')} />}
        {/* Tells password managers whose password this is. */}
        <input type="email" autoComplete="username" value={person.email} readOnly hidden />
        <PasswordField
          label={t('currentPassword')}
          autoComplete="current-password"
          required
          value={passwords.currentPassword}
          onChange={({ currentTarget }) =>
            setPasswords({ ...passwords, currentPassword: currentTarget.value })
          }
        />
        <NewPasswordField
          label={t('newPassword')}
          value={passwords.newPassword}
          onChange={(newPassword) => setPasswords({ ...passwords, newPassword })}
        />
        <div>
          <Button type="submit" loading={change.isPending}>
            {t('changePassword')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
