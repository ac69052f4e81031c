/** Pairing: a screen shows a code, a person approves it here. */
import { Select, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/api-error.ts';
import type { PairingApprove, Panel } from '#contract/panels/panel.ts';
import { useListChange } from '#web/dashboard/api/queries.ts';
import { DialogForm } from '#web/dashboard/components/layers.tsx';
import { SegmentedField } from '#web/dashboard/fields/segmented-field.tsx';
import { codeChars, codeOf, impossibleIn, isWholeCode } from './pair-code.ts';
import styles from './pairing.module.css';
import { isTag, knownTags } from './panel-values.ts';
import { TagsField } from './tags-field.tsx';

/** Approves a code; resolves with the panel, old or new. */
export const useApprove = () =>
  useListChange('panels', ({ api }, { code, ...body }: PairingApprove & { code: string }) =>
    api.post<Panel>(`/api/pairings/${code}/approve`, body),
  );

/** A pairing code, typed or pasted in any form. */
export function CodeField({
  value,
  onChange,
  error,
  ...props
}: Omit<TextInputProps, 'value' | 'onChange'> & { value: string; onChange: (code: string) => void }) {
  const { t } = useTranslation('panels');
  const impossible = impossibleIn(value);
  return (
    <TextInput
      label={t('code')}
      description={t('codeHint')}
      placeholder={'·'.repeat(codeChars)}
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellCheck={false}
      classNames={{ input: styles.code ?? '' }}
      {...props}
      value={value}
      error={error || (impossible !== undefined && t('codeImpossible', { char: impossible }))}
      onChange={(event) => onChange(codeOf(event.currentTarget.value))}
    />
  );
}

export function PairForm({
  panels,
  code,
  onPaired,
  onClose,
}: {
  panels: readonly Panel[];
  code: string;
  onPaired: (panel: Panel) => void;
  onClose: () => void;
}) {
  const { t } = useTranslation('panels');
  const approve = useApprove();
  const form = useForm({
    initialValues: {
      code: codeOf(code),
      kind: 'new' as 'new' | 'existing',
      name: '',
      tags: [] as string[],
      location: '',
      panelId: null as string | null,
    },
    onValuesChange: () => approve.reset(),
  });
  const { kind, name, tags, location, panelId } = form.values;
  const isNew = kind === 'new';
  const isNamed = isNew ? name.trim() !== '' && tags.every(isTag) : panelId !== null;
  const isCodeUnknown = isCode(approve.error, 'pairing.unknown-code');
  const submit = () => {
    const body = isNew
      ? { name: name.trim(), tags, location: location.trim() || null }
      : { panelId: panelId ?? '' };
    approve.mutate({ code: form.values.code, ...body }, { onSuccess: onPaired });
  };
  return (
    <DialogForm
      action={t('approve')}
      request={isCodeUnknown ? { ...approve, error: null } : approve}
      errorTitle={t('approveFailed')}
      isDisabled={!isWholeCode(form.values.code) || !isNamed}
      onSubmit={submit}
      onClose={onClose}
    >
      <CodeField
        value={form.values.code}
        onChange={(typed) => form.setFieldValue('code', typed)}
        error={isCodeUnknown && t('codeUnknown')}
        data-autofocus={code === '' || undefined}
      />
      {panels.length > 0 && (
        <SegmentedField
          label={t('whichPanel')}
          value={kind}
          onChange={(value) => form.setFieldValue('kind', value)}
          options={(['new', 'existing'] as const).map((each) => [each, t(`which.${each}`)] as const)}
        />
      )}
      {isNew ? (
        <Stack gap="md">
          <TextInput
            label={t('name')}
            description={t(panels.some((each) => each.name === name.trim()) ? 'nameTaken' : 'nameHint')}
            placeholder={t('namePlaceholder')}
            maxLength={100}
            data-autofocus={code !== '' || undefined}
            {...form.getInputProps('name')}
          />
          <TagsField known={knownTags(panels)} {...form.getInputProps('tags')} />
          <TextInput
            label={t('location')}
            description={t('locationHint')}
            maxLength={200}
            {...form.getInputProps('location')}
          />
        </Stack>
      ) : (
        <Select
          label={t('panel')}
          description={t('existingHint')}
          data={panels.map((each) => ({ value: each.id, label: each.name }))}
          searchable
          limit={60}
          nothingFoundMessage={t('noneMatch')}
          {...form.getInputProps('panelId')}
        />
      )}
    </DialogForm>
  );
}
