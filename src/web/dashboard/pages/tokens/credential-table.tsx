import revokedIcon from 'virtual:icon/ban';
import activeIcon from 'virtual:icon/circle-check';
import expiredIcon from 'virtual:icon/clock-off';
import expiringIcon from 'virtual:icon/hourglass-low';
import keyIcon from 'virtual:icon/key';
import { Button, Switch } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/people/token.ts';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { type Column, RowButton, RowTable, WaitingRows } from '#web/dashboard/components/row-table.tsx';
import { actorText } from '#web/dashboard/formats/formats.ts';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { hasEnded, stateOf } from './credential.ts';
import type { Credential, Kind } from './credential-fields.tsx';
import styles from './tokens.module.css';

/** Tokens or keys. Expired and revoked ones are shown on demand. */
export function CredentialTable<C extends Credential>({
  query,
  kind,
  onOpen,
  onCreate,
  remarkOf,
  column: [title, cell],
}: {
  query: UseQueryResult<C[]>;
  kind: Kind;
  onOpen: (id: string) => void;
  onCreate: () => void;
  /** A remark after the name. */
  remarkOf?: (credential: C) => string | undefined;
  column: Column<C>;
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const [showsEnded, setShowsEnded] = useState(false);
  const isEnded = (each: C) => hasEnded(stateOf(each, Date.now()));
  const ended = query.data?.filter(isEnded).length ?? 0;
  const createFirst = (
    <Button variant="filled" onClick={onCreate}>
      {t(kind === 'keys' ? 'createKey' : 'createToken')}
    </Button>
  );
  // The warning must not push the table down.
  if (query.isPending) return <WaitingRows />;
  return (
    <>
      <ExpiryWarning credentials={query.data ?? []} onOpen={onOpen} />
      <RowTable
        query={query}
        empty={
          <EmptyState icon={keyIcon} title={t(`empty.${kind}`)} action={createFirst}>
            {t(`emptyText.${kind}`)}
          </EmptyState>
        }
        caption={t(`tab.${kind}`)}
        filter={{
          label: t('filter'),
          textsOf: (each) => [
            each.name,
            each.id,
            actorText(each.createdBy),
            t(`state.${stateOf(each, Date.now())}`),
          ],
          noneMatch: t('noneMatch'),
        }}
        tools={
          ended > 0 && (
            <Switch
              label={t('showEnded', { count: ended })}
              checked={showsEnded}
              onChange={(event) => setShowsEnded(event.currentTarget.checked)}
            />
          )
        }
        where={(each) => showsEnded || !isEnded(each)}
        rowClassOf={(each) => (isEnded(each) ? styles.ended : undefined)}
        keys={[t('keys.create')]}
        keyOf={({ id }) => id}
        onOpen={onOpen}
        columns={[
          [t('name'), (each) => <CredentialName name={each.name} remark={remarkOf?.(each)} />],
          [title, cell, styles.own],
          [t('state'), (each) => <CredentialMark credential={each} />, styles.state],
          [t('used'), (each) => <LastUse {...each} />, styles.used, ({ lastUsedFrom }) => lastUsedFrom],
          [
            t('expires'),
            ({ expiresAt }) =>
              expiresAt === null ? (
                <span className="muted">{t('expiry.never')}</span>
              ) : (
                formats.date(expiresAt)
              ),
            styles.expires,
          ],
          [
            t('allowShort'),
            ({ allowFrom }) =>
              allowFrom.length === 0 ? (
                <span className="muted">{t('anywhere')}</span>
              ) : (
                <span className="mono">{allowFrom.join(', ')}</span>
              ),
            styles.allow,
            ({ allowFrom }) => allowFrom.join(', '),
          ],
          [
            t('created'),
            ({ createdAt, createdBy }) => (
              <>
                {formats.date(createdAt)} <bdi className="muted">{actorText(createdBy)}</bdi>
              </>
            ),
            styles.created,
            ({ createdBy }) => actorText(createdBy),
          ],
        ]}
      />
    </>
  );
}

function CredentialName({ name, remark }: { name: string; remark: string | undefined }) {
  return (
    <RowButton name={name}>
      {remark !== undefined && <span className={styles.remark}>{remark}</span>}
    </RowButton>
  );
}

/** When it was last used, and from where. */
export function LastUse({ lastUsedAt, lastUsedFrom }: Pick<Key, 'lastUsedAt' | 'lastUsedFrom'>) {
  const { t } = useTranslation('tokens');
  return (
    <>
      <Ago at={lastUsedAt} never={t('unused')} /> <span className="mono muted">{lastUsedFrom}</span>
    </>
  );
}

/** The warning names so many; the filter of the table finds the others by their state. */
const mostNamed = 5;

/** A warning about credentials that expire within the next days, the first to expire first. */
function ExpiryWarning({
  credentials,
  onOpen,
}: {
  credentials: readonly Credential[];
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const expiring = credentials
    .filter((each) => stateOf(each, Date.now()) === 'expiring')
    .sort((a, b) => Date.parse(a.expiresAt ?? '') - Date.parse(b.expiresAt ?? ''));
  if (expiring.length === 0) return null;
  const more = expiring.length - mostNamed;
  return (
    <div className={styles.warning}>
      <Icon paths={expiringIcon} size={18} />
      <div>
        {t('expiringSoon', { count: expiring.length })}{' '}
        {expiring.slice(0, mostNamed).map(({ id, name, expiresAt }, n) => (
          <span key={id}>
            {n > 0 && ', '}
            <button type="button" className={styles.link} onClick={() => onOpen(id)}>
              <bdi>{name}</bdi>
            </button>{' '}
            {expiresAt !== null && formats.relative(expiresAt)}
          </span>
        ))}
        {more > 0 && ` ${t('expiringMore', { count: more })}`}
      </div>
    </div>
  );
}

const marks = {
  active: { icon: activeIcon, tone: 'good' },
  expiring: { icon: expiringIcon, tone: 'doubtful' },
  expired: { icon: expiredIcon, tone: 'quiet' },
  revoked: { icon: revokedIcon, tone: 'quiet' },
} as const;

/** Whether it is still valid, as a word, an icon and a colour. */
export function CredentialMark({ credential }: { credential: Pick<Key, 'revokedAt' | 'expiresAt'> }) {
  const { t } = useTranslation('tokens');
  const state = stateOf(credential, Date.now());
  return <StateMark {...marks[state]}>{t(`state.${state}`)}</StateMark>;
}
