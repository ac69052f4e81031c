import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Token, TokenCreate } from '#contract/token.ts';
import { tokensKey } from '#web/dashboard/api/credentials.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { SecretShown } from './secret-shown.tsx';
import { newTokenDraft, type TokenDraft, TokenFields, tokenOf } from './token-fields.tsx';

/** Makes a token, and shows its secret: until this is closed, and never again. */
export function CreateToken({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const [draft, setDraft] = useState<TokenDraft>(newTokenDraft);
  const wanted = tokenOf(draft, tenant.timeZone);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (token: TokenCreate) => tenant.api.post<Token & { token: string }>('/api/tokens', token),
    onSuccess: () => client.invalidateQueries({ queryKey: tokensKey(tenant) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted) mutate(wanted);
  };
  return (
    <Dialog
      onClose={onClose}
      size={560}
      title={data ? t('created', { name: data.name }) : t('create')}
      // The secret is gone when this closes: that is never by mistake.
      closeOnClickOutside={!data}
      closeOnEscape={!data}
      withCloseButton={!data}
    >
      {data ? (
        <SecretShown secret={data.token} scopes={data.scopes} onClose={onClose} />
      ) : (
        <form onSubmit={submit}>
          <Stack gap="md">
            <TokenFields draft={draft} onChange={(some) => setDraft({ ...draft, ...some })} />
            {error && <ErrorNotice error={error} title={t('createFailed')} />}
            <Group justify="flex-end" gap="xs">
              <Button onClick={onClose}>{t('cancel', { ns: 'shell' })}</Button>
              <Button type="submit" variant="filled" loading={isPending} disabled={!wanted}>
                {t('createDo')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
