import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';

/** The secret that a sender signs with for a token; loaded on request. */
export function SigningSecret({ tokenId }: { tokenId: string }) {
  const { t } = useTranslation('tokens');
  const { api } = useTenant();
  const read = useMutation({
    mutationFn: () => api.get<{ signingSecret: string }>(`/api/tokens/${tokenId}/signing-secret`),
  });
  if (read.data) return <CopyField text={read.data.signingSecret} label={t('signingSecret')} />;
  return (
    <div>
      <Button loading={read.isPending} onClick={() => read.mutate()}>
        {t('showSigningSecret')}
      </Button>
      {read.error && <ErrorNotice error={read.error} />}
    </div>
  );
}
