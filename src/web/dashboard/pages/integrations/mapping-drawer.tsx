import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/api-error.ts';
import type { Mapping } from '#contract/integrations/mapping.ts';
import { limits } from '#contract/limits.ts';
import { mappingPath, mappingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { LevelSelect } from '#web/dashboard/fields/level-select.tsx';
import { rebase } from '#web/dashboard/fields/rebase.ts';
import { DocsLink, Labelled } from './format-drawer.tsx';
import { curlJson } from './formats.ts';
import styles from './integrations.module.css';
import { MappingPreviewList, PayloadField, usePayload, usePreview } from './mapping-preview.tsx';
import {
  type FieldName,
  fieldNames,
  type MappingValues,
  mappingOf,
  offersOf,
  valuesOf,
} from './mapping-values.ts';
import { type CreatedTokens, useTokenChoice } from './token-choice.tsx';

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
