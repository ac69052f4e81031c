/** Pairing: a screen shows a code, a person approves it here. */
import comeIcon from 'virtual:icon/circle-check';
import openIcon from 'virtual:icon/external-link';
import waitingIcon from 'virtual:icon/hourglass';
import {
  Button,
  Group,
  Select,
  Stack,
  TagsInput,
  type TagsInputProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/call.ts';
import type { PairingApprove, Panel } from '#contract/panels/panel.ts';
import { panelsQuery, useListChange } from '#web/dashboard/api/queries.ts';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { CopyField } from '#web/dashboard/fields/copy-field.tsx';
import styles from './pairing.module.css';
import { codeChars, codeOf, impossibleIn, isTag, isWholeCode, knownTags } from './panel-values.ts';

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

function PairForm({
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

/** Labels by which rules choose panels; anything may be typed, and is kept in the server's form. */
export function TagsField({
  value = [],
  onChange,
  known,
  ...props
}: Omit<TagsInputProps, 'onChange'> & {
  onChange: (tags: string[]) => void;
  /** Tags of other panels. */
  known: string[];
}) {
  const { t } = useTranslation('panels');
  const wrong = value.find((tag) => !isTag(tag));
  return (
    <TagsInput
      label={t('tags')}
      description={t('tagsHint')}
      placeholder={value.length === 0 ? t('tagsPlaceholder') : ''}
      data={known}
      maxTags={50}
      splitChars={[',', ' ']}
      acceptValueOnBlur
      openOnFocus={false}
      maxDropdownHeight={160}
      {...props}
      value={value}
      error={wrong !== undefined && t('tagWrong', { tag: wrong })}
      onChange={(tags) => onChange([...new Set(tags.map((tag) => tag.trim().toLowerCase()))])}
    />
  );
}

/** Opens a panel in a new tab of this browser. */
export function OpenPanelButton() {
  const { t } = useTranslation('panels');
  return (
    <Button
      component="a"
      href="/panel"
      target="_blank"
      rel="noopener"
      leftSection={<Icon paths={openIcon} />}
    >
      {t('openHere')}
    </Button>
  );
}

/** Approves a screen by its code, and stays open until the screen is online. */
export function PairDialog({
  panels,
  code,
  onClose,
  onSetUp,
}: {
  panels: readonly Panel[];
  /** From a QR code; empty: the person types it. */
  code: string;
  onClose: () => void;
  /** Opens the panel's settings. */
  onSetUp: (id: string) => void;
}) {
  const { t } = useTranslation('panels');
  const [paired, setPaired] = useState<Panel>();
  return (
    <Dialog onClose={onClose} title={t('approve')} size={460}>
      {paired ? (
        <PairedPanel panel={paired} onClose={onClose} onSetUp={() => onSetUp(paired.id)} />
      ) : (
        <PairForm panels={panels} code={code} onPaired={setPaired} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** For a person who may not approve the scanned code: a link for an admin, and the tenants where they may. */
export function AskAdminDialog({ code: scanned, onClose }: { code: string; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const navigate = useNavigate();
  const { name, title: tenant, role } = useTenant();
  const { data } = useSuspenseQuery(sessionQuery);
  const elsewhere = data.tenants.filter((each) => each.role === 'admin' || each.role === 'owner');
  const code = codeOf(scanned);
  return (
    <Dialog onClose={onClose} title={t('approve')} size={460}>
      <Stack gap="md">
        <span>{t('askAdmin', { tenant, role: t(`role.${role}`) })}</span>
        {code !== '' && (
          <>
            <span>{t('askAdminCode', { code })}</span>
            <CopyField text={`${location.origin}/t/${name}/panels?pair=${code}`} label={t('askAdminLink')} />
          </>
        )}
        {elsewhere.length > 0 && <span>{t('askElsewhere')}</span>}
        <Group gap="xs">
          {elsewhere.map((each) => (
            <Button
              key={each.name}
              onClick={() =>
                void navigate({
                  to: '/t/$tenant/panels',
                  params: { tenant: each.name },
                  search: { pair: code === '' ? 'new' : code },
                })
              }
            >
              {each.title}
            </Button>
          ))}
        </Group>
      </Stack>
    </Dialog>
  );
}

/** The screen asks every two seconds. */
const askEveryMs = 1_000;

function PairedPanel({
  panel,
  onClose,
  onSetUp,
}: {
  panel: Panel;
  onClose: () => void;
  onSetUp: () => void;
}) {
  const { t } = useTranslation('panels');
  const { data } = useQuery({ ...panelsQuery(useTenant()), refetchInterval: askEveryMs });
  const isOnline = data?.find(({ id }) => id === panel.id)?.online ?? false;
  return (
    <>
      <NewContent className={styles.paired ?? ''} role="status">
        <span className={isOnline ? styles.come : styles.waiting}>
          <Icon paths={isOnline ? comeIcon : waitingIcon} size={36} />
        </span>
        <strong>
          <bdi>{panel.name}</bdi>
        </strong>
        <span className="muted">{t(isOnline ? 'pairedOnline' : 'pairedWaiting')}</span>
      </NewContent>
      <Group justify="flex-end" gap="xs">
        <Button onClick={onSetUp}>{t('setUp')}</Button>
        <Button variant="filled" onClick={onClose}>
          {t('done')}
        </Button>
      </Group>
    </>
  );
}
