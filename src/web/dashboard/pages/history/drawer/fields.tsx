import linkIcon from 'virtual:icon/external-link';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/notification.ts';
import { type OnRefine, RefineChip } from '#web/dashboard/notifications/refine-chip.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import type { RefineKey } from '#web/dashboard/query/refine.ts';
import styles from './notification-drawer.module.css';

/** Everything else a notification says, each value a way to refine the search. */
export function DrawerFields({
  notification,
  onRefine,
}: {
  notification: HistoryNotification;
  onRefine: OnRefine;
}) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const { host, ip, sourceIp, token, key, url, ttl, sent, level, rules, position } = notification;
  const chip = (refineKey: RefineKey, value: string, label?: string) => (
    <RefineChip refineKey={refineKey} value={value} onRefine={onRefine}>
      <bdi>{label ?? value}</bdi>
    </RefineChip>
  );
  return (
    <dl className={styles.fields}>
      {host !== null && <Field name={t('field.host')} mono value={chip('host', host)} />}
      {ip !== null && <Field name={t('field.ip')} mono value={chip('ip', ip)} />}
      <Field name={t('field.sourceIp')} mono value={chip('source', sourceIp)} />
      <Field name={t('field.token')} value={chip('token', token.id, token.name)} />
      <Field
        name={t('field.display')}
        value={ttl === 0 ? t('untilCleared') : t('shownFor', { time: formats.duration(ttl) })}
      />
      {key !== null && <Field name={t('field.key')} mono value={chip('key', key)} />}
      {sent.level !== level && (
        <Field name={t('field.sentAs')} value={t('sentLevel', { level: sent.level })} />
      )}
      {rules.length > 0 && (
        <Field
          name={t('field.rules')}
          value={rules.map((rule) => <div key={rule.id}>{chip('rule', rule.id, rule.name)}</div>)}
        />
      )}
      {url !== null && <Field name={t('field.link')} value={<OutsideLink url={url} />} />}
      <Field name={t('field.position')} value={<span className={styles.quiet}>{position}</span>} />
    </dl>
  );
}

function Field({ name, value, mono = false }: { name: string; value: ReactNode; mono?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd data-mono={mono}>{value}</dd>
    </>
  );
}

/** Only http and https are taken at intake; what came another way is text here. */
function OutsideLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <bdi>{url}</bdi>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{url}</bdi>
      <Icon paths={linkIcon} size={13} />
    </a>
  );
}
