import { useTranslation } from 'react-i18next';
import type { Key } from '#contract/token.ts';
import { Facts } from '#web/dashboard/pieces/facts.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';
import { CredentialMark } from './credential-mark.tsx';

/** What is known of a token or a key beside what can be changed. */
export function CredentialFacts({
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
