import { Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { MappingPreviewed, MappingPut } from '#contract/integrations/mapping.ts';
import { limits } from '#contract/limits.ts';
import { captureQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { Ago } from '#web/dashboard/formats/ago.tsx';
import styles from './integrations.module.css';

/** The payload for the preview of a mapping: the last received one, until another one is typed. */
export function usePayload(name: string | undefined, typed: string | undefined) {
  const { data: capture = null } = useQuery({
    ...captureQuery(useTenant(), name ?? ''),
    enabled: name !== undefined,
  });
  return { capture, payload: typed ?? (capture ? formatted(capture.payload) : '') };
}

function formatted(payload: string): string {
  try {
    const text = JSON.stringify(JSON.parse(payload), null, 2);
    return text.length > limits.captureBytes ? payload : text;
  } catch {
    return payload;
  }
}

export function PayloadField({
  payload: { capture, payload },
  isTyped,
  isNew,
  error,
  onChange,
}: {
  payload: ReturnType<typeof usePayload>;
  isTyped: boolean;
  isNew: boolean;
  error: string | undefined;
  /** undefined: the last one that came. */
  onChange: (payload: string | undefined) => void;
}) {
  const { t } = useTranslation('integrations');
  return (
    <div className={styles.labelled}>
      <Textarea
        label={t('payload')}
        description={t(isNew ? 'payloadHintNew' : 'payloadHint')}
        placeholder={'{"device": "ups-1", "events": [{"what": "On battery"}]}'}
        classNames={{ input: styles.code ?? '' }}
        rows={9}
        spellCheck={false}
        error={error}
        value={payload}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {capture && (
        <p className="muted">
          {t('received')} <Ago at={capture.receivedAt} />{' '}
          {capture.problem !== null && <bdi className={styles.problem}>{capture.problem}</bdi>}
          {isTyped && (
            <button type="button" className={styles.link} onClick={() => onChange(undefined)}>
              {t('useReceived')}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

const pauseMs = 300;

/** What the server would store, a moment after the last change. */
export function usePreview(mapping: MappingPut, payload: string) {
  const { api, key } = useTenant();
  const [body] = useDebouncedValue(JSON.stringify({ mapping, payload }), pauseMs);
  const asked = JSON.parse(body) as { mapping: MappingPut; payload: string };
  const isAsked = asked.payload.trim() !== '' && asked.mapping.fields.title.trim() !== '';
  const { data, error } = useQuery({
    queryKey: [...key, 'mapping-preview', body],
    queryFn: ({ signal }) => api.post<MappingPreviewed>('/api/mappings/preview', asked, { signal }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 0,
    retry: false,
  });
  return isAsked ? { data, error } : { data: undefined, error: null };
}

/** The items that would be stored, or an error that belongs to no field. */
export function MappingPreviewList({
  data,
  error,
}: {
  data: MappingPreviewed | undefined;
  error: Error | null;
}) {
  const { t } = useTranslation('integrations');
  return (
    <section className={styles.labelled} aria-label={t('preview')}>
      <h3>
        {t('preview')}{' '}
        {data && !error && <span className="muted">{t('previewCount', { count: data.count })}</span>}
      </h3>
      {error && <ErrorNotice error={error} title={t('previewFailed')} />}
      {!data && !error && <p className="muted">{t('previewNone')}</p>}
      {!error && data && (
        <ol className={styles.items}>
          {data.items.map(({ title, message, level, host, ip, key, url }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: items have no name but their place.
            <li key={i}>
              <div>
                <LevelMark name={level} /> <strong>{title === '' ? t('noTitle') : <bdi>{title}</bdi>}</strong>
              </div>
              {message !== title && <p>{message}</p>}
              <p className="muted">
                {[
                  [t('field.host'), host ?? ip],
                  [t('field.key'), key],
                  [t('field.url'), url],
                ]
                  .filter(([, value]) => value !== null)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(' · ')}
              </p>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
