import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/call.ts';
import { shownLabels } from '#contract/history/labels.ts';
import type { Mapping, MappingPreviewed, MappingPut } from '#contract/integrations/integration.ts';
import { limits } from '#contract/limits.ts';
import { captureQuery, mappingPath, mappingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { LevelSelect } from '#web/dashboard/fields/choice-fields.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { rebase } from '#web/dashboard/fields/form-values.ts';
import { Ago } from '#web/dashboard/formats/use-formats.tsx';
import { type CreatedTokens, DocsLink, Labelled, useTokenChoice } from './format-drawer.tsx';
import { curlJson } from './formats.ts';
import styles from './integrations.module.css';
import {
  type FieldName,
  fieldNames,
  type MappingValues,
  mappingOf,
  offersOf,
  valuesOf,
} from './mapping-values.ts';

interface DrawerProps {
  /** undefined: a new one. */
  readonly mapping: Mapping | undefined;
  /** The names that there are. */
  readonly taken: readonly string[];
  readonly created: CreatedTokens;
  /** The payload that was typed; undefined: the last one that came. */
  readonly typed: string | undefined;
  readonly onTyped: (payload: string | undefined) => void;
  readonly onSaved: (name: string) => void;
  readonly onClose: () => void;
}

/** A mapping beside a payload and what it makes of it. */
export function MappingDrawer(props: DrawerProps) {
  const { mapping, taken, created, typed, onTyped, onSaved, onClose } = props;
  const { t } = useTranslation('integrations');
  const tenant = useTenant();
  const client = useQueryClient();
  const payload = usePayload(mapping?.name, typed);
  const edit = useDrawerForm<MappingValues>({
    saved: valuesOf(mapping),
    validate: ({ name, fields }) => ({
      name: mapping
        ? undefined
        : taken.includes(name)
          ? t('nameTaken')
          : !isName(name) && t(name === '' ? 'needed' : 'nameWrong'),
      'fields.title': fields.title.trim() === '' && t('needed'),
    }),
    async save(typed, before) {
      // A mapping is saved as a whole: with what others saved since it was read.
      const now = mapping && (await client.fetchQuery({ ...mappingsQuery(tenant), staleTime: 0 }));
      const latest = now?.find(({ name }) => name === mapping?.name);
      const values = latest ? rebase(before, typed, valuesOf(latest)) : typed;
      await tenant.api.put(mappingPath(values.name), mappingOf(values));
      await client.invalidateQueries({ queryKey: [...tenant.key, 'mappings'] });
      if (!mapping) edit.leave(() => onSaved(values.name));
    },
  });
  const { form } = edit;
  const isTooLong = payload.payload.length > limits.captureBytes;
  const preview = usePreview(mappingOf(form.values), isTooLong ? '' : payload.payload);
  const place = isTooLong ? { name: 'payload', message: t('payloadTooLong') } : placeOf(preview.error);
  return (
    <SideDrawer onClose={onClose} size={1080} title={mapping?.name ?? t('createMapping')}>
      <form onSubmit={edit.submit}>
        <div className={styles.editor}>
          <div className={styles.setup}>
            {!mapping && (
              <TextInput
                label={t('name')}
                description={t('mappingNameHint')}
                placeholder="ups"
                data-autofocus
                maxLength={64}
                {...form.getInputProps('name')}
              />
            )}
            <MappingFields form={form} payload={payload.payload} error={place} />
            <LevelWords form={form} />
          </div>
          <div className={styles.setup}>
            <PayloadField
              payload={payload}
              isTyped={typed !== undefined}
              isNew={!mapping}
              error={place?.name === 'payload' ? place.message : undefined}
              onChange={onTyped}
            />
            <MappingPreviewList data={preview.data} error={place ? null : preview.error} />
            {mapping && <SendHere name={mapping.name} payload={payload.payload} created={created} />}
            <DocsLink section="anything-else-a-mapping" />
          </div>
        </div>
        <EditFoot edit={edit}>
          {mapping ? (
            <DeleteButton
              path={mappingPath(mapping.name)}
              list={['mappings']}
              title={t('deleteMappingTitle', { name: mapping.name })}
              action={t('deleteMappingDo')}
              isGone={({ name }: Mapping) => name === mapping.name}
              onDeleted={() => edit.leave(onClose)}
            >
              {t('deleteMappingAbout')}
            </DeleteButton>
          ) : (
            <span />
          )}
        </EditFoot>
      </form>
    </SideDrawer>
  );
}

const isName = (name: string) => /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name);

interface Place {
  readonly name: string;
  readonly message: string;
}

/** The field that the server's error is about, by the last part of its pointer. */
function placeOf(error: Error | null): Place | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const name = error.place.pointer?.split('/').at(-1) ?? '';
  const isField = [...fieldNames, 'items', 'payload'].some((each) => each === name);
  return isField ? { name, message: error.message } : undefined;
}

function MappingFields({
  form,
  payload,
  error,
}: {
  form: UseFormReturnType<MappingValues>;
  payload: string;
  error: Place | undefined;
}) {
  const { t } = useTranslation('integrations');
  const [active, setActive] = useState<FieldName>('title');
  const offers = offersOf(payload, mappingOf(form.values).items);
  const errorOf = (name: string) => (error?.name === name ? { error: error.message } : {});
  return (
    <>
      <TextInput
        label={t('items')}
        description={t('itemsHint')}
        placeholder="/events"
        classNames={{ input: styles.code ?? '' }}
        list="mapping-lists"
        spellCheck={false}
        disabled={form.values.isRootList}
        {...form.getInputProps('items')}
        {...errorOf('items')}
      />
      <datalist id="mapping-lists">
        {offers.lists.map((pointer) => (
          <option key={pointer} value={pointer} />
        ))}
      </datalist>
      <Checkbox label={t('isRootList')} {...form.getInputProps('isRootList', { type: 'checkbox' })} />
      <p className="muted">{t('fieldsHint')}</p>
      {offers.values.length > 0 && (
        <div className={styles.labelled}>
          <h3>{t('insert', { field: t(`field.${active}`) })}</h3>
          <div className={styles.offers}>
            {offers.values.map(({ placeholder, value }) => (
              <button
                key={placeholder}
                type="button"
                className={styles.offer}
                onClick={() =>
                  form.setFieldValue(`fields.${active}`, `${form.values.fields[active]}${placeholder}`)
                }
              >
                <span className="mono">{placeholder}</span> <bdi className="muted">{value.slice(0, 40)}</bdi>
              </button>
            ))}
          </div>
        </div>
      )}
      {fieldNames.map((name) => (
        <TextInput
          key={name}
          label={t(`field.${name}`)}
          description={name === 'identity' ? t('identityHint') : undefined}
          required={name === 'title'}
          classNames={{ input: styles.code ?? '' }}
          spellCheck={false}
          maxLength={1_000}
          onFocus={() => setActive(name)}
          {...form.getInputProps(`fields.${name}`)}
          {...errorOf(name)}
        />
      ))}
    </>
  );
}

/** The sender's words for levels, each with one of the tenant's levels. */
function LevelWords({ form }: { form: UseFormReturnType<MappingValues> }) {
  const { t } = useTranslation('integrations');
  return (
    <div className={styles.labelled}>
      <h3>{t('levels')}</h3>
      <p className="muted">{t('levelsHint')}</p>
      {form.values.levels.map(({ level }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name but their place.
        <div key={i} className={styles.word}>
          <TextInput
            aria-label={t('levelWord')}
            placeholder={t('levelWord')}
            classNames={{ input: styles.code ?? '' }}
            maxLength={100}
            {...form.getInputProps(`levels.${i}.word`)}
          />
          <LevelSelect
            aria-label={t('field.level')}
            value={level}
            onChange={(chosen) => form.setFieldValue(`levels.${i}.level`, chosen)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('removeWord')}
            onClick={() => form.removeListItem('levels', i)}
          >
            <Icon paths={removeIcon} />
          </ActionIcon>
        </div>
      ))}
      <div>
        <Button size="xs" onClick={() => form.insertListItem('levels', { word: '', level: 'warning' })}>
          {t('addWord')}
        </Button>
      </div>
    </div>
  );
}

/** The address for the sender, and a command that sends the payload to it. */
function SendHere({ name, payload, created }: { name: string; payload: string; created: CreatedTokens }) {
  const { t } = useTranslation('integrations');
  const token = useTokenChoice(name, created, true);
  const url = `${location.origin}/api/integrations/custom/${name}`;
  const body = payload.trim() === '' ? '{}' : payload.replaceAll("'", `'\\''`);
  const { label, text } = curlJson({ origin: location.origin, token: token.text }, url, body);
  return (
    <>
      <Labelled label={t('address')} text={url} />
      {token.choice}
      <Labelled label={label} text={text} />
    </>
  );
}

/** The payload for the preview of a mapping: the last received one, until another one is typed. */
function usePayload(name: string | undefined, typed: string | undefined) {
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

function PayloadField({
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
function usePreview(mapping: MappingPut, payload: string) {
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
function MappingPreviewList({ data, error }: { data: MappingPreviewed | undefined; error: Error | null }) {
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
          {data.items.map(({ title, message, level, host, ip, key, url, labels }, i) => (
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
                  [t('field.labels'), shownLabels(labels) || null],
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
