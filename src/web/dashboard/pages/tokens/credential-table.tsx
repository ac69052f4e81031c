import revokedIcon from 'virtual:icon/ban';
import activeIcon from 'virtual:icon/circle-check';
import expiredIcon from 'virtual:icon/clock-off';
import warnIcon from 'virtual:icon/hourglass-low';
import expiringIcon from 'virtual:icon/hourglass-low';
import keyIcon from 'virtual:icon/key';
import { Button, Switch } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { Ago } from '#web/dashboard/components/ago.tsx';
import { StateMark } from '#web/dashboard/components/facts.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import {
  FilterField,
  OpeningRow,
  RowButton,
  RowTable,
  useRowKeys,
} from '#web/dashboard/components/row-table.tsx';
import { isOver, stateOf } from './credential.ts';
import type { Credential, Kind } from './credential-fields.tsx';
import styles from './tokens.module.css';

interface TableOptions<C extends Credential> {
  readonly query: Pick<UseQueryResult<C[]>, 'data' | 'error' | 'refetch'>;
  readonly onOpen: (id: string) => void;
  readonly onCreate: () => void;
  readonly kind: Kind;
  readonly columnTitle: string;
  readonly column: (credential: C) => ReactNode;
  /** Behind the name. */
  readonly remark: (credential: C) => string | false;
}

/** Those in use; what is over comes when it is asked for. */
export function CredentialTable<C extends Credential>(options: TableOptions<C>) {
  const { t } = useTranslation('tokens');
  const { query, onOpen, onCreate, kind } = options;
  const { data: credentials, error } = query;
  const [filter, setFilter] = useState('');
  const [withOver, setWithOver] = useState(false);
  const rows = useRowKeys<HTMLTableElement>();
  const now = Date.now();
  if (error && !credentials) return <ErrorNotice error={error} onRetry={() => void query.refetch()} />;
  if (credentials?.length === 0) {
    return (
      <EmptyState
        icon={keyIcon}
        title={t(`empty.${kind}`)}
        action={
          <Button variant="filled" onClick={onCreate}>
            {t(kind === 'keys' ? 'createKey' : 'createToken')}
          </Button>
        }
      >
        {t(`emptyText.${kind}`)}
      </EmptyState>
    );
  }
  const wanted = filter.trim().toLowerCase();
  const over = credentials?.filter((each) => isOver(stateOf(each, now))).length ?? 0;
  const shown = credentials?.filter(
    (each) =>
      (withOver || !isOver(stateOf(each, now))) &&
      [each.name, each.id, each.createdBy].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <>
      <ExpiryWarning credentials={credentials ?? []} onOpen={onOpen} />
      <div className={styles.tools}>
        <FilterField label={t('filter')} value={filter} onChange={setFilter} onEnterList={rows.enter} />
        <Switch
          label={t('withOver', { count: over })}
          checked={withOver}
          disabled={over === 0}
          onChange={(event) => setWithOver(event.currentTarget.checked)}
        />
      </div>
      <RowTable
        rows={rows}
        caption={t(`tab.${kind}`)}
        isWaiting={!credentials}
        nothing={shown?.length === 0 && t('noneMatch')}
        hint={t('keys')}
        head={
          <>
            <th>{t('name')}</th>
            <th className={styles.own}>{options.columnTitle}</th>
            <th className={styles.state}>{t('state')}</th>
            <th className={styles.used}>{t('used')}</th>
            <th className={styles.expires}>{t('expires')}</th>
            <th className={styles.allow}>{t('allowShort')}</th>
            <th className={styles.created}>{t('created')}</th>
          </>
        }
      >
        {shown?.map((each) => (
          <Row key={each.id} credential={each} options={options} />
        ))}
      </RowTable>
    </>
  );
}

function Row<C extends Credential>({ credential, options }: { credential: C; options: TableOptions<C> }) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const { id, name, createdBy, createdAt, lastUsedAt, lastUsedFrom, expiresAt, allowFrom } = credential;
  const remark = options.remark(credential);
  const open = () => options.onOpen(id);
  return (
    <OpeningRow onOpen={open} className={isOver(stateOf(credential, Date.now())) ? styles.over : undefined}>
      <td>
        <RowButton onOpen={open}>
          <strong>
            <bdi>{name}</bdi>
          </strong>{' '}
          {remark !== false && <span className={styles.remark}>{remark}</span>}
        </RowButton>
      </td>
      <td className={styles.own}>{options.column(credential)}</td>
      <td className={styles.state}>
        <CredentialMark credential={credential} />
      </td>
      <td className={styles.used} title={lastUsedFrom ?? undefined}>
        {lastUsedAt === null ? (
          <span className="muted">{t('unused')}</span>
        ) : (
          <>
            <Ago at={lastUsedAt} /> <span className="mono muted">{lastUsedFrom}</span>
          </>
        )}
      </td>
      <td className={styles.expires}>
        {expiresAt === null ? <span className="muted">{t('expiry.never')}</span> : formats.date(expiresAt)}
      </td>
      <td className={styles.allow} title={allowFrom.join(', ')}>
        {allowFrom.length === 0 ? (
          <span className="muted">{t('anywhere')}</span>
        ) : (
          <span className="mono">{allowFrom.join(', ')}</span>
        )}
      </td>
      <td className={styles.created} title={createdBy}>
        {formats.date(createdAt)} <bdi className="muted">{createdBy}</bdi>
      </td>
    </OpeningRow>
  );
}

/** Names what ends within the next days, before whoever uses it is refused. */
function ExpiryWarning({
  credentials,
  onOpen,
}: {
  credentials: readonly Credential[];
  onOpen: (id: string) => void;
}) {
  const { t } = useTranslation('tokens');
  const formats = useFormats();
  const ending = credentials.filter((each) => stateOf(each, Date.now()) === 'expiring');
  if (ending.length === 0) return null;
  return (
    <div className={styles.warning}>
      <Icon paths={warnIcon} size={18} />
      <div>
        {t('endingSoon', { count: ending.length })}{' '}
        {ending.map(({ id, name, expiresAt }, n) => (
          <span key={id}>
            {n > 0 && ', '}
            <button type="button" className={styles.link} onClick={() => onOpen(id)}>
              <bdi>{name}</bdi>
            </button>{' '}
            {expiresAt !== null && formats.relative(expiresAt)}
          </span>
        ))}
      </div>
    </div>
  );
}

const looks = {
  active: { icon: activeIcon, tone: 'good' },
  expiring: { icon: expiringIcon, tone: 'doubtful' },
  expired: { icon: expiredIcon, tone: 'quiet' },
  revoked: { icon: revokedIcon, tone: 'quiet' },
} as const;

/** Whether it still opens the door: word, icon and colour. */
export function CredentialMark({ credential }: { credential: Pick<Key, 'revokedAt' | 'expiresAt'> }) {
  const { t } = useTranslation('tokens');
  const state = stateOf(credential, Date.now());
  return <StateMark {...looks[state]}>{t(`state.${state}`)}</StateMark>;
}
