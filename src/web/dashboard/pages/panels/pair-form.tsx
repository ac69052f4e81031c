import { Button, Group, SegmentedControl, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/api-error.ts';
import type { PairingApprove, Panel } from '#contract/panel.ts';
import { panelsKey } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { codeChars, codeOf, impossibleIn } from './pair-code.ts';
import styles from './pairing.module.css';
import { isTag, knownTags } from './panel-draft.ts';
import { TagsField } from './tags-field.tsx';

interface Draft {
  readonly code: string;
  readonly kind: 'new' | 'existing';
  readonly name: string;
  readonly tags: readonly string[];
  readonly location: string;
  readonly panelId: string;
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
  const [draft, setDraft] = useState<Draft>({
    code: codeOf(code),
    kind: 'new',
    name: '',
    tags: [],
    location: '',
    panelId: '',
  });
  const { mutate, error, isPending, reset } = useApprove(onPaired);
  const change = (some: Partial<Draft>) => {
    reset();
    setDraft({ ...draft, ...some });
  };
  const codeRefused = isCode(error, 'pairing.unknown-code');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete(draft)) mutate(draft);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <CodeField
          value={draft.code}
          onChange={(typed) => change({ code: typed })}
          error={codeRefused ? t('codeUnknown') : undefined}
          focus={draft.code === ''}
        />
        {panels.length > 0 && (
          <SegmentedControl
            fullWidth
            aria-label={t('whichPanel')}
            value={draft.kind}
            onChange={(kind) => change({ kind })}
            data={(['new', 'existing'] as const).map((kind) => ({ value: kind, label: t(`which.${kind}`) }))}
          />
        )}
        {draft.kind === 'new' ? (
          <NewPanelFields draft={draft} panels={panels} onChange={change} />
        ) : (
          <Select
            label={t('panel')}
            description={t('existingHint')}
            data={panels.map(({ id, name }) => ({ value: id, label: name }))}
            value={draft.panelId === '' ? null : draft.panelId}
            onChange={(id) => change({ panelId: id ?? '' })}
            searchable
            required
            withAsterisk={false}
            limit={60}
            nothingFoundMessage={t('noneMatch')}
          />
        )}
        {error !== null && !codeRefused && <ErrorNotice error={error} title={t('approveFailed')} />}
        <Group justify="flex-end" gap="xs">
          <Button onClick={onClose}>{t('cancel', { ns: 'shell' })}</Button>
          <Button type="submit" variant="filled" loading={isPending} disabled={!isComplete(draft)}>
            {t('approveDo')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function NewPanelFields({
  draft: { code, name, tags, location },
  panels,
  onChange,
}: {
  draft: Draft;
  panels: readonly Panel[];
  onChange: (some: Partial<Draft>) => void;
}) {
  const { t } = useTranslation('panels');
  const taken = panels.some((panel) => panel.name === name.trim());
  return (
    <>
      <TextInput
        label={t('name')}
        description={taken ? t('nameTaken') : t('nameHint')}
        placeholder={t('namePlaceholder')}
        value={name}
        maxLength={100}
        data-autofocus={code === '' ? undefined : true}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TagsField value={tags} onChange={(next) => onChange({ tags: next })} known={knownTags(panels)} />
      <TextInput
        label={t('location')}
        description={t('locationHint')}
        value={location}
        maxLength={200}
        onChange={(event) => onChange({ location: event.currentTarget.value })}
      />
    </>
  );
}

function isComplete({ code, kind, name, tags, panelId }: Draft): boolean {
  if (code.length !== codeChars || impossibleIn(code) !== undefined) return false;
  return kind === 'new' ? name.trim() !== '' && tags.every(isTag) : panelId !== '';
}

function useApprove(onPaired: (panel: Panel) => void) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ code, kind, name, tags, location, panelId }: Draft) => {
      const body: PairingApprove =
        kind === 'existing'
          ? { panelId }
          : { name: name.trim(), tags: [...tags], location: location.trim() === '' ? null : location.trim() };
      return tenant.api.post<Panel>(`/api/pairings/${code}/approve`, body);
    },
    onSuccess: (panel) => {
      onPaired(panel);
      return client.invalidateQueries({ queryKey: panelsKey(tenant) });
    },
  });
}

/** Six large characters, typed or pasted in any form. */
function CodeField({
  value,
  onChange,
  error,
  focus,
}: {
  value: string;
  onChange: (code: string) => void;
  error: string | undefined;
  focus: boolean;
}) {
  const { t } = useTranslation('panels');
  const impossible = impossibleIn(value);
  return (
    <TextInput
      label={t('code')}
      description={t('codeHint')}
      classNames={{ input: styles.code ?? '' }}
      value={value}
      placeholder={'·'.repeat(codeChars)}
      error={error ?? (impossible === undefined ? undefined : t('codeImpossible', { char: impossible }))}
      onChange={(event) => onChange(codeOf(event.currentTarget.value))}
      autoComplete="one-time-code"
      autoCapitalize="characters"
      spellCheck={false}
      inputMode="text"
      data-autofocus={focus ? true : undefined}
    />
  );
}
