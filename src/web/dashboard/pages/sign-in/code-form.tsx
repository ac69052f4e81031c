import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SignedIn, TwoFactorSignIn } from '#contract/session.ts';
import { personApi } from '#web/dashboard/api/call.ts';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';

/** Asks for the second factor: six digits of an app, or one of the codes kept for the day it is lost. */
export function CodeForm({ onDone, onBack }: { onDone: () => Promise<void>; onBack: () => void }) {
  const { t } = useTranslation('entry');
  const [kind, setKind] = useState<TwoFactorSignIn['kind']>('totp');
  const [code, setCode] = useState('');
  const [trustDevice, setTrustDevice] = useState(false);
  const prove = useMutation({
    mutationFn: (body: TwoFactorSignIn) => personApi.post<SignedIn>('/api/session/two-factor', body),
    onSuccess: onDone,
    onError: () => setCode(''),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate({ code: code.trim(), kind, trustDevice });
  };
  const swap = () => {
    setKind(kind === 'totp' ? 'backup' : 'totp');
    setCode('');
    prove.reset();
  };
  const isTotp = kind === 'totp';
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {prove.error && <ErrorNotice error={prove.error} title={t('signInFailed')} />}
        <TextInput
          key={kind}
          label={isTotp ? t('code') : t('backupCode')}
          description={isTotp ? t('codeHint') : t('backupHint')}
          inputMode={isTotp ? 'numeric' : 'text'}
          autoComplete="one-time-code"
          pattern={isTotp ? '[0-9]{6}' : undefined}
          maxLength={32}
          required
          autoFocus
          value={code}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <Checkbox
          label={t('trust')}
          checked={trustDevice}
          onChange={({ currentTarget }) => setTrustDevice(currentTarget.checked)}
        />
        <Button type="submit" variant="filled" fullWidth loading={prove.isPending}>
          {t('continue')}
        </Button>
        <Group justify="space-between">
          <Button variant="subtle" size="xs" onClick={onBack}>
            {t('back')}
          </Button>
          <Button variant="subtle" size="xs" onClick={swap}>
            {isTotp ? t('useBackup') : t('useApp')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
