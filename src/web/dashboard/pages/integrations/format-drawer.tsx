import docsIcon from 'virtual:icon/book';
import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Token } from '#contract/people/token.ts';
import { tokensQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { Remark } from '#web/dashboard/components/notice.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import { Ago } from '#web/dashboard/formats/use-formats.tsx';
import { hasEnded, stateOf } from '../tokens/credential.ts';
import { CreateCredential } from '../tokens/credential-fields.tsx';
import { SigningSecret } from '../tokens/signed-webhooks.tsx';
import { addressWithToken, type SenderFormat } from './formats.ts';
import styles from './integrations.module.css';

/** How one sender is set up: its token, its address, and what is entered where. */
export function FormatDrawer({
  format,
  created,
  onClose,
}: {
  format: SenderFormat;
  created: CreatedTokens;
  onClose: () => void;
}) {
  const { t } = useTranslation('integrations');
  const { name, title, path, isSigned, isAddressOnly, examples } = format;
  const isTokenShown = !isSigned && (isAddressOnly || examples !== undefined);
  const token = useTokenChoice(name, created, isTokenShown);
  const sender = { origin: location.origin, token: token.text };
  const url = sender.origin + path;
  const address = isSigned
    ? `${url}/${token.id ?? t('tokenId')}`
    : isAddressOnly
      ? addressWithToken(sender, url)
      : url;
  return (
    <SideDrawer onClose={onClose} size={700} title={title}>
      <div className={styles.setup}>
        {token.choice}
        <p>{t(`where.${name}`)}</p>
        <Labelled label={t(isSigned ? 'payloadUrl' : 'address')} text={address} />
        {isSigned && token.id !== undefined && (
          <div className={styles.labelled}>
            <h3>{t('signingSecret')}</h3>
            <SigningSecret key={token.id} tokenId={token.id} />
          </div>
        )}
        {examples?.(sender, url).map(({ label, text }) => (
          <Labelled key={label} label={label} text={text} />
        ))}
        <DocsLink section={format.section} />
      </div>
    </SideDrawer>
  );
}

export function Labelled({ label, text }: { label: string; text: string }) {
  return (
    <div className={styles.labelled}>
      <h3>{label}</h3>
      <CopyField label={label} text={text} />
    </div>
  );
}

export function DocsLink({ section }: { section: string }) {
  const { t } = useTranslation('integrations');
  return (
    <a className={styles.docs} href={`/docs/integrations#${section}`} target="_blank" rel="noopener">
      <Icon paths={docsIcon} />
      {t('docs')}
    </a>
  );
}

/** The token that was chosen for a sender. */
export interface ChosenToken {
  readonly id: string | undefined;
  /** The complete token if it was created on this page, otherwise its beginning. */
  readonly text: string;
  /** The control to choose the token; a hint for people who may not see tokens. */
  readonly choice: React.ReactNode;
}

/**
 * The token that a sender is given: none until it is chosen or created, so that two senders share one only on purpose.
 *
 * @param isShown The token stands in what the page shows.
 */
export function useTokenChoice(senderName: string, created: CreatedTokens, isShown: boolean): ChosenToken {
  const { t } = useTranslation('integrations');
  const tenant = useTenant();
  const mayChoose = tenant.may('admin');
  const { data } = useQuery({ ...tokensQuery(tenant), enabled: mayChoose, refetchInterval: 5_000 });
  const [chosen, setChosen] = useState<string>();
  const [isCreating, setCreating] = useState(false);
  const now = Date.now();
  const tokens = data?.filter(
    (each) => each.scopes.includes('notify') && each.panelId === null && !hasEnded(stateOf(each, now)),
  );
  const token =
    tokens?.find(({ id }) => id === chosen) ??
    tokens?.find(({ id, name }) => name === senderName && created.of(id) !== undefined);
  const secret = token && created.of(token.id);
  const text = secret ?? (token ? `bfy_${token.id}_…` : 'TOKEN');
  const choice = mayChoose ? (
    <div className={styles.token}>
      {tokens && tokens.length > 0 && (
        <NativeSelect
          label={t('token')}
          description={t('tokenHint')}
          value={token?.id ?? ''}
          data={[
            ...(token ? [] : [{ value: '', label: t('chooseToken') }]),
            ...tokens.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        />
      )}
      {tokens?.length === 0 && <p className="muted">{t('noToken')}</p>}
      <div className={styles.tokenFoot}>
        <Button variant={token ? 'default' : 'filled'} onClick={() => setCreating(true)}>
          {t('createToken')}
        </Button>
        {token && <LastUsed token={token} />}
      </div>
      {isShown && token && secret === undefined && <Remark>{t('replaceToken', { token: text })}</Remark>}
      {isCreating && (
        <CreateCredential
          kind="tokens"
          name={senderName}
          onCreated={(id, text) => {
            created.add(id, text);
            setChosen(id);
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </div>
  ) : (
    <Remark>{t('askForToken')}</Remark>
  );
  return { id: token?.id, text, choice };
}

/** Updates itself when the sender uses the token. */
function LastUsed({ token: { lastUsedAt } }: { token: Token }) {
  const { t } = useTranslation('integrations');
  return (
    <span className="muted" role="status">
      {lastUsedAt === null ? (
        t('neverUsed')
      ) : (
        <>
          {t('lastUsed')} <Ago at={lastUsedAt} />
        </>
      )}
    </span>
  );
}

/** The tokens that were created on this page: their texts are known until the page is left. */
export interface CreatedTokens {
  of(id: string): string | undefined;
  add(id: string, text: string): void;
}

export function useCreatedTokens(): CreatedTokens {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  return { of: (id) => texts[id], add: (id, text) => setTexts((known) => ({ ...known, [id]: text })) };
}
