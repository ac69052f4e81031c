import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key, Token, TokenPatch } from '#contract/token.ts';
import { keysKey, tokensKey } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { Confirm, Consequences, useUnsavedQuestion } from '#web/dashboard/components/confirm.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { DrawerFoot, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useDraft } from '#web/dashboard/components/use-draft.ts';
import { isOver, stateOf } from './credential.ts';
import { TokenFields, tokenDraftOf, tokenOf } from './credential-fields.tsx';
import { CredentialMark } from './credential-table.tsx';
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
      {error && <ErrorNotice error={error} title={t('saveFailed', { ns: 'shell' })} />}
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

/** One automation key: how it stands, and its end. A key is not changed; a new one is made. */
export function KeyDrawer({ credential, onClose }: { credential: Key; onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const { may } = useTenant();
  const { role, allowFrom, revokedAt } = credential;
  return (
    <SideDrawer
      onClose={onClose}
      title={<bdi>{credential.name}</bdi>}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      <CredentialFacts
        credential={credential}
        prefix="bfk"
        more={[
          [t('role'), `${t(`role.${role}`, { ns: 'shell' })}: ${t(`keyRole.${role}`)}`],
          [
            t('allow'),
            allowFrom.length === 0 ? (
              t('anywhere')
            ) : (
              <span key="allow" className="mono">
                {allowFrom.join(', ')}
              </span>
            ),
          ],
        ]}
      />
      <p className={styles.ended}>{t(revokedAt === null ? 'keyUnchanged' : 'endedHint')}</p>
      {revokedAt === null && may(role) && (
        <DrawerFoot>
          <RevokeButton
            credential={credential}
            path="/api/keys"
            kind="key"
            panel={undefined}
            onRevoked={onClose}
          />
        </DrawerFoot>
      )}
    </SideDrawer>
  );
}

/** Says what stops before it does. */
function RevokeButton({
  credential,
  path,
  kind,
  panel,
  onRevoked,
}: {
  credential: Omit<Key, 'role'>;
  path: '/api/tokens' | '/api/keys';
  kind: 'token' | 'key';
  /** The panel that a token is bound to. */
  panel: string | undefined;
  onRevoked: () => void;
}) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { id, name, lastUsedAt, lastUsedFrom } = credential;
  const revoke = async () => {
    await tenant.api.delete(`${path}/${id}`);
    await client.invalidateQueries({ queryKey: kind === 'key' ? keysKey(tenant) : tokensKey(tenant) });
    onRevoked();
  };
  return (
    <>
      <Button variant="subtle" color="error" onClick={() => setAsking(true)}>
        {t('revoke')}
      </Button>
      {asking && (
        <Confirm
          title={t('revokeTitle', { name })}
          action={t('revokeDo')}
          onConfirm={revoke}
          onClose={() => setAsking(false)}
        >
          <Consequences>
            <li>{t(kind === 'key' ? 'revokeKey' : 'revokeToken')}</li>
            {panel !== undefined && <li>{t('revokePanel', { name: panel })}</li>}
            <li>
              {lastUsedAt === null ? (
                t('unused')
              ) : (
                <>
                  {t('revokeUsed')} <Ago at={lastUsedAt} />
                  {lastUsedFrom !== null && (
                    <>
                      {' '}
                      {t('revokeFrom')} <span className="mono">{lastUsedFrom}</span>
                    </>
                  )}
                </>
              )}
            </li>
            <li>{t('revokeForever')}</li>
          </Consequences>
        </Confirm>
      )}
    </>
  );
}

/** What is known of a token or a key beside what can be changed. */
function CredentialFacts({
  credential,
  prefix,
  more = [],
}: {
  credential: Omit<Key, 'role'>;
  /** What its secret begins with. */
  prefix: 'bfy' | 'bfk';
  more?: Parameters<typeof Facts>[0]['of'];
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const { id, createdAt, createdBy, lastUsedAt, lastUsedFrom, expiresAt, revokedAt } = credential;
  return (
    <Facts
      of={[
        [t('state'), <CredentialMark key="state" credential={credential} />],
        [t('beginsWith'), <span key="id" className="mono">{`${prefix}_${id}_…`}</span>],
        ...more,
        [
          t('used'),
          lastUsedAt === null ? (
            t('unused')
          ) : (
            <span key="used">
              <Ago at={lastUsedAt} /> <span className="mono">{lastUsedFrom}</span>
            </span>
          ),
        ],
        [t('expires'), expiresAt === null ? t('expiry.never') : formats.dateTime(expiresAt)],
        ...(revokedAt === null ? [] : ([[t('revokedAt'), formats.dateTime(revokedAt)]] as const)),
        [
          t('createdColumn'),
          <span key="created">
            {formats.dateTime(createdAt)}, <bdi>{createdBy}</bdi>
          </span>,
        ],
      ]}
    />
  );
}
