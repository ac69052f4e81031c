import { Button, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AccountPatch } from '#contract/account.ts';
import type { Person } from '#contract/session.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { showToast } from '#web/dashboard/pieces/layers/toast.ts';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { Section } from '#web/dashboard/pieces/page.tsx';
import styles from './account.module.css';

export function ProfileSection() {
  const { t } = useTranslation('account');
  const { t: shell } = useTranslation('shell');
  const person = usePerson();
  const client = useQueryClient();
  const [name, setName] = useState(person.name);
  const save = useMutation({
    mutationFn: (body: AccountPatch) => personApi.patch<Person>('/api/account', body),
    onSuccess: async () => {
      showToast({ message: shell('saved') });
      await client.invalidateQueries({ queryKey: ['session'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ name: name.trim() });
  };
  return (
    <Section title={t('profile')}>
      <form className={styles.fields} onSubmit={submit}>
        {save.error && <ErrorNotice error={save.error} title={shell('failed')} />}
        <TextInput
          label={t('name')}
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextInput label={t('email')} description={t('emailHint')} readOnly value={person.email} />
        <div>
          <Button type="submit" disabled={name.trim() === person.name} loading={save.isPending}>
            {shell('save')}
          </Button>
        </div>
      </form>
    </Section>
  );
}
