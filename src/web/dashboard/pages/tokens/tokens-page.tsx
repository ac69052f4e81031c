import { Tabs } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key, Token } from '#contract/people/token.ts';
import { rulesThatNameToken } from '#contract/routing/rule-names.ts';
import { keysQuery, panelsQuery, putInList, tokensQuery } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { Consequences, DrawerFoot, SideDrawer, useOpened } from '#web/dashboard/components/layers.tsx';
import { RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { hasEnded, stateOf } from './credential.ts';
import {
  CreateCredential,
  type Credential,
  CredentialFields,
  type Kind,
  tokenPatchOf,
  validateCredential,
  valuesOfToken,
} from './credential-fields.tsx';
import { CredentialMark, CredentialTable, LastUse } from './credential-table.tsx';
import { SignedWebhooks } from './signed-webhooks.tsx';
import styles from './tokens.module.css';

/** The credentials of senders, screens and scripts. For admins alone. */
export function TokensPage() {
  const { t } = useTranslation('tokens');
  if (useTenant().may('admin')) return <Credentials />;
  return (
    <Page title={t('tokens')}>
      <RoleRemark what="mayNotSee" />
    </Page>
  );
}

function Credentials() {
  const { t } = useTranslation('tokens');
  const { tab = 'tokens' } = useSearch({ from: '/signed-in/t/$tenant/settings/tokens' });
  const [opened, onOpen] = useOpened();
  const navigate = useNavigate({ from: '/t/$tenant/settings/tokens' });
  const [isCreating, setCreating] = useState(false);
  const list: ListProps = { opened, onOpen, onCreate: () => setCreating(true) };
  return (
    <Page
      wide
      title={t('tokens')}
      about={t(tab === 'keys' ? 'keysAbout' : 'about')}
      actions={
        <CreateButton onClick={list.onCreate}>{t(tab === 'keys' ? 'createKey' : 'createToken')}</CreateButton>
      }
    >
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(next) => void navigate({ search: next === 'keys' ? { tab: 'keys' } : {}, replace: true })}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="tokens">{t('tab.tokens')}</Tabs.Tab>
          <Tabs.Tab value="keys">{t('tab.keys')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tokens">
          <TokenList {...list} />
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeyList {...list} />
        </Tabs.Panel>
      </Tabs>
      {isCreating && <CreateCredential kind={tab} onClose={() => setCreating(false)} />}
    </Page>
  );
}

interface ListProps {
  readonly opened: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
  readonly onCreate: () => void;
}

function TokenList({ opened, ...list }: ListProps) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const query = useQuery(tokensQuery(tenant));
  const { data: panels = [] } = useQuery(panelsQuery(tenant));
  const panelOf = ({ panelId }: Token) =>
    panelId === null ? undefined : (panels.find(({ id }) => id === panelId)?.name ?? t('deletedPanel'));
  const remarkOf = (token: Token) => {
    const panel = panelOf(token);
    if (panel === undefined) return undefined;
    // Pairing names the token after its panel: no need to name it twice.
    return token.name === `panel ${panel}` ? t('screensOwn') : t('ofPanel', { name: panel });
  };
  const token = query.data?.find(({ id }) => id === opened);
  const scopesOf = ({ scopes }: Token) =>
    scopes.map((scope) => (
      <span key={scope} className="chip mono">
        {scope}
      </span>
    ));
  return (
    <>
      <CredentialTable
        {...list}
        query={query}
        kind="tokens"
        column={[t('scopes'), scopesOf]}
        remarkOf={remarkOf}
      />
      {token && (
        <TokenDrawer
          key={token.id}
          token={token}
          panel={panelOf(token)}
          onClose={() => list.onOpen(undefined)}
        />
      )}
    </>
  );
}

function KeyList({ opened, ...list }: ListProps) {
  const { t } = useTranslation('tokens');
  const query = useQuery(keysQuery(useTenant()));
  const key = query.data?.find(({ id }) => id === opened);
  const roleOf = ({ role }: Key) => t(`role.${role}`);
  return (
    <>
      <CredentialTable {...list} query={query} kind="keys" column={[t('role'), roleOf]} />
      {key && <KeyDrawer key={key.id} credential={key} onClose={() => list.onOpen(undefined)} />}
    </>
  );
}

interface TokenProps {
  readonly token: Token;
  /** The name of the panel that it is bound to. */
  readonly panel: string | undefined;
  readonly onClose: () => void;
}

/** One token: its state, what can be changed, and revoking it. */
function TokenDrawer(props: TokenProps) {
  const { t } = useTranslation('tokens');
  const { token, panel, onClose } = props;
  const state = stateOf(token, Date.now());
  return (
    <SideDrawer onClose={onClose} title={<bdi>{token.name}</bdi>}>
      <CredentialFacts
        credential={token}
        prefix="bfy"
        more={[
          ...(panel === undefined ? [] : ([[t('panel'), <bdi key="panel">{panel}</bdi>]] as const)),
          ...(hasEnded(state) || panel !== undefined
            ? ([[t('scopes'), token.scopes.join(', ')]] as const)
            : []),
        ]}
      />
      {state === 'revoked' ? <p className={styles.ended}>{t('endedHint')}</p> : <TokenForm {...props} />}
    </SideDrawer>
  );
}

function TokenForm({ token, panel, onClose }: TokenProps) {
  const { t } = useTranslation('tokens');
  const tenant = useTenant();
  const client = useQueryClient();
  const edit = useDrawerForm({
    saved: valuesOfToken(token, tenant.timeZone),
    validate: (values) => validateCredential(values, t, tenant.timeZone),
    async save(values, before) {
      const saved = await tenant.api.patch<Token>(
        `/api/tokens/${token.id}`,
        tokenPatchOf(values, before, tenant.timeZone),
      );
      putInList(client, tokensQuery(tenant), saved, ({ id }) => id === saved.id);
    },
  });
  return (
    <form onSubmit={edit.submit} className={styles.form}>
      <CredentialFields form={edit.form} kind="tokens" isOpen hasFixedScopes={token.panelId !== null} />
      {token.scopes.includes('notify') && <SignedWebhooks tokenId={token.id} />}
      <EditFoot edit={edit}>
        <RevokeButton credential={token} kind="tokens" panel={panel} onRevoked={() => edit.leave(onClose)} />
      </EditFoot>
    </form>
  );
}

/** One automation key. A key is not changed; a new one is made. */
function KeyDrawer({ credential, onClose }: { credential: Key; onClose: () => void }) {
  const { t } = useTranslation('tokens');
  const { may } = useTenant();
  const { role, allowFrom, revokedAt } = credential;
  const isUsable = revokedAt === null;
  return (
    <SideDrawer onClose={onClose} title={<bdi>{credential.name}</bdi>}>
      <CredentialFacts
        credential={credential}
        prefix="bfk"
        more={[
          [t('role'), t(`role.${role}`)],
          [
            t('allow'),
            allowFrom.length === 0 ? t('anywhere') : <Mono key="allow">{allowFrom.join(', ')}</Mono>,
          ],
        ]}
      />
      <p className={styles.ended}>{t(isUsable ? 'keyUnchanged' : 'endedHint')}</p>
      {isUsable && may(role) && (
        <DrawerFoot>
          <RevokeButton credential={credential} kind="keys" panel={undefined} onRevoked={onClose} />
        </DrawerFoot>
      )}
    </SideDrawer>
  );
}

const Mono = ({ children }: { children: ReactNode }) => <span className="mono">{children}</span>;

/** The facts of a token or a key beside its fields. */
function CredentialFacts({
  credential,
  prefix,
  more,
}: {
  credential: Credential;
  /** Its secret begins with it. */
  prefix: 'bfy' | 'bfk';
  more: Parameters<typeof Facts>[0]['of'];
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const { id, createdAt, createdBy, expiresAt, revokedAt } = credential;
  const created = (
    <span key="created">
      {formats.dateTime(createdAt)}, <bdi>{actorText(createdBy)}</bdi>
    </span>
  );
  return (
    <Facts
      of={[
        [t('state'), <CredentialMark key="state" credential={credential} />],
        [t('beginsWith'), <Mono key="id">{`${prefix}_${id}_…`}</Mono>],
        ...more,
        [t('used'), <LastUse key="used" {...credential} />],
        [t('expires'), expiresAt === null ? t('expiry.never') : formats.dateTime(expiresAt)],
        ...(revokedAt === null ? [] : ([[t('state.revoked'), formats.dateTime(revokedAt)]] as const)),
        [t('created'), created],
      ]}
    />
  );
}

/** Says what will stop, and then revokes. */
function RevokeButton({
  credential: { id, name, lastUsedAt, lastUsedFrom },
  kind,
  panel,
  onRevoked,
}: {
  credential: Credential;
  kind: Kind;
  /** The name of the panel that a token is bound to. */
  panel: string | undefined;
  onRevoked: () => void;
}) {
  const { t } = useTranslation('tokens');
  const { data: rules = [] } = useQuery(rulesQuery(useTenant()));
  const naming = kind === 'tokens' ? rulesThatNameToken({ id, name }, rules) : [];
  return (
    <DeleteButton
      path={`/api/${kind}/${id}`}
      list={[kind]}
      label={t('revoke')}
      title={t('revokeTitle', { name })}
      action={t('revokeDo')}
      onDeleted={onRevoked}
    >
      <Consequences>
        <li>{t(kind === 'keys' ? 'revokeKey' : 'revokeToken')}</li>
        {panel !== undefined && <li>{t('revokePanel', { name: panel })}</li>}
        {naming.length > 0 && (
          <li>
            {t('revokeRules', { count: naming.length })}{' '}
            <strong>
              <bdi>{naming.map((rule) => rule.name).join(', ')}</bdi>
            </strong>
          </li>
        )}
        <li>
          {lastUsedAt === null ? (
            t('unused')
          ) : (
            <>
              {t('revokeUsed')} <Ago at={lastUsedAt} />
              {lastUsedFrom !== null && ` ${t('revokeFrom')} `}
              <Mono>{lastUsedFrom}</Mono>
            </>
          )}
        </li>
        <li>{t('revokeForever')}</li>
      </Consequences>
    </DeleteButton>
  );
}
