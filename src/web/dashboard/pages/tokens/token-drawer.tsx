import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Token, TokenPatch } from '#contract/token.ts';
import { tokensKey } from '#web/dashboard/api/credentials.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useDraft } from '#web/dashboard/pieces/fields/use-draft.ts';
import { DrawerFoot, SideDrawer } from '#web/dashboard/pieces/layers/side-drawer.tsx';
import { useUnsavedQuestion } from '#web/dashboard/pieces/layers/unsaved-question.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { TokenFields, tokenDraftOf, tokenOf } from './create/token-fields.tsx';
import { CredentialFacts } from './credential-facts.tsx';
import { isOver, stateOf } from './credential-state.ts';
import { RevokeButton } from './revoke-button.tsx';
import styles from './tokens.module.css';

/** One token: how it stands, what can be changed, and its end. */
export function TokenDrawer({
  token,
  panel,
  onClose,
}: {
  token: Token;
  /** The panel that it is bound to. */
  panel: string | undefined;
  onClose: () => void;
}) {
  const { t } = useTranslation('tokens');
  const [isDirty, setDirty] = useState(false);
  const { question, leave } = useUnsavedQuestion(isDirty);
  const over = isOver(stateOf(token, Date.now()));
  return (
    <SideDrawer onClose={onClose} title={<bdi>{token.name}</bdi>} overlayProps={{ backgroundOpacity: 0.25 }}>
      <CredentialFacts
        credential={token}
        prefix="bfy"
        more={[
          ...(panel === undefined ? [] : ([[t('panel'), <bdi key="panel">{panel}</bdi>]] as const)),
          ...(over || panel !== undefined ? ([[t('scopes'), token.scopes.join(', ')]] as const) : []),
        ]}
      />
      {stateOf(token, Date.now()) === 'revoked' ? (
        <p className={styles.ended}>{t('endedHint')}</p>
      ) : (
        <TokenForm token={token} panel={panel} onClose={() => leave(onClose)} onDirty={setDirty} />
      )}
      {question}
    </SideDrawer>
  );
}

function TokenForm({
  token,
  panel,
  onClose,
  onDirty,
}: Parameters<typeof TokenDrawer>[0] & { onDirty: (isDirty: boolean) => void }) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const draft = useDraft(tokenDraftOf(token, tenant.timeZone), onDirty);
  const { shown, isDirty } = draft;
  const wanted = tokenOf(shown, tenant.timeZone);
  const { mutate, error, isPending, isSuccess, reset } = useSave(token.id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDirty && wanted) mutate(wanted, { onSuccess: () => draft.settle(shown) });
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <TokenFields
        draft={shown}
        open
        fixedScopes={token.panelId !== null}
        onChange={(some) => {
          if (!isPending) reset();
          draft.change(some);
        }}
      />
      {error && <ErrorNotice error={error} title={t('saveFailed')} />}
      <DrawerFoot>
        <RevokeButton credential={token} path="/api/tokens" kind="token" panel={panel} onRevoked={onClose} />
        <Group gap="xs" wrap="nowrap">
          <span role="status" className="muted">
            {isSuccess && !isDirty ? t('saved', { ns: 'shell' }) : ''}
          </span>
          <Button type="submit" variant="filled" loading={isPending} disabled={!isDirty || !wanted}>
            {t('save', { ns: 'shell' })}
          </Button>
        </Group>
      </DrawerFoot>
    </form>
  );
}

function useSave(id: string) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (patch: TokenPatch) => tenant.api.patch<Token>(`/api/tokens/${id}`, patch),
    onSuccess: (token) => {
      client.setQueryData(tokensKey(tenant), (tokens: readonly Token[] | undefined) =>
        tokens?.map((each) => (each.id === token.id ? token : each)),
      );
    },
  });
}
