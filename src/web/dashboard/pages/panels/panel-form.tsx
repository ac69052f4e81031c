import {
  Autocomplete,
  Button,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { panelPath, panelsKey, panelsQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { DrawerFoot } from '#web/dashboard/components/layers.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { TimeZoneSelect } from '#web/dashboard/components/time-zone-select.tsx';
import { useDraft } from '#web/dashboard/components/use-draft.ts';
import { DeletePanel } from './delete-panel.tsx';
import {
  draftOf,
  knownTags,
  type PanelDraft,
  type PanelProblem,
  patchOf,
  problemsOf,
} from './panel-draft.ts';
import styles from './panel-drawer.module.css';
import { ScreenPreview } from './screen-preview.tsx';
import { TagsField } from './tags-field.tsx';

/** Name, tags, place and how it draws. What is being written stays, whatever comes in the meantime. */
export function PanelForm({
  panel,
  onDirty,
  onDeleted,
}: {
  panel: Panel;
  onDirty: (isDirty: boolean) => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { data: panels = [] } = useQuery(panelsQuery(tenant));
  const draft = useDraft(draftOf(panel), onDirty);
  const { shown, isDirty } = draft;
  const problems = problemsOf(shown);
  const { mutate, error, isPending, isSuccess, reset } = useSave(panel.id);
  const change = (some: Partial<PanelDraft>) => {
    if (!isPending) reset();
    draft.change(some);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDirty && Object.keys(problems).length === 0)
      mutate(shown, { onSuccess: () => draft.settle(shown) });
  };
  return (
    <form onSubmit={submit} className={styles.form}>
      <section className={styles.part} aria-labelledby="panel-itself">
        <h3 id="panel-itself">{t('itself')}</h3>
        <div className={styles.fields}>
          <TextInput
            label={t('name')}
            value={shown.name}
            maxLength={100}
            error={problems.name && t(problems.name)}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <TagsField value={shown.tags} known={knownTags(panels)} onChange={(tags) => change({ tags })} />
          <TextInput
            label={t('location')}
            description={t('locationHint')}
            value={shown.location}
            maxLength={200}
            onChange={(event) => change({ location: event.currentTarget.value })}
          />
        </div>
      </section>
      <DisplayFields draft={shown} problems={problems} onChange={change} />
      {error && (
        <div className={styles.part}>
          <ErrorNotice error={error} title={t('saveFailed', { ns: 'shell' })} />
        </div>
      )}
      <DrawerFoot>
        <DeletePanel panel={panel} onDeleted={onDeleted} />
        <Group gap="xs" wrap="nowrap">
          <span role="status" className="muted">
            {isDirty ? t('changed') : isSuccess ? t('saved', { ns: 'shell' }) : ''}
          </span>
          <Button flex="none" disabled={!isDirty} onClick={draft.discard}>
            {t('discard', { ns: 'shell' })}
          </Button>
          <Button
            type="submit"
            variant="filled"
            flex="none"
            loading={isPending}
            disabled={!isDirty || Object.keys(problems).length > 0}
          >
            {t('save', { ns: 'shell' })}
          </Button>
        </Group>
      </DrawerFoot>
    </form>
  );
}

function useSave(id: string) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (draft: PanelDraft) => tenant.api.patch<Panel>(panelPath(id), patchOf(draft)),
    onSuccess: (panel) => {
      client.setQueryData(panelsKey(tenant), (panels: readonly Panel[] | undefined) =>
        panels?.map((each) => (each.id === panel.id ? panel : each)),
      );
    },
  });
}

interface FieldsOptions {
  readonly draft: PanelDraft;
  readonly problems: Partial<Record<keyof PanelDraft, PanelProblem>>;
  readonly onChange: (some: Partial<PanelDraft>) => void;
}

/** How the panel draws and sounds. Open screens follow as soon as it is saved. */
function DisplayFields(options: FieldsOptions) {
  const { t } = useTranslation('panels');
  return (
    <>
      <section className={styles.part} aria-labelledby="panel-look">
        <h3 id="panel-look">{t('look')}</h3>
        <ScreenPreview draft={options.draft} />
        <LookFields {...options} />
      </section>
      <section className={styles.part} aria-labelledby="panel-hours">
        <h3 id="panel-hours">{t('hours')}</h3>
        <HourFields {...options} />
      </section>
      <section className={styles.part} aria-labelledby="panel-place">
        <h3 id="panel-place">{t('place')}</h3>
        <PlaceFields {...options} />
      </section>
    </>
  );
}

function LookFields({ draft, problems, onChange }: FieldsOptions) {
  const { t } = useTranslation('panels');
  const schemeId = useId();
  const said = (field: keyof PanelDraft) => {
    const problem = problems[field];
    return problem && t(problem);
  };
  return (
    <div className={styles.fields}>
      <div>
        <div className="mantine-InputWrapper-label" id={schemeId}>
          {t('scheme')}
        </div>
        <SegmentedControl
          fullWidth
          aria-labelledby={schemeId}
          value={draft.scheme === '' ? 'dark' : draft.scheme}
          onChange={(scheme) => onChange({ scheme })}
          data={(['dark', 'light', 'auto'] as const).map((value) => ({ value, label: t(`scheme.${value}`) }))}
        />
      </div>
      <div className={styles.pair}>
        <NumberInput
          label={t('scale')}
          description={t('scaleHint')}
          placeholder="100 %"
          suffix=" %"
          min={50}
          max={400}
          step={25}
          clampBehavior="none"
          allowDecimal={false}
          value={draft.scalePercent}
          error={said('scalePercent')}
          onChange={(scalePercent) => onChange({ scalePercent })}
        />
        <NumberInput
          label={t('maxCards')}
          description={t('maxCardsHint')}
          placeholder={t('maxCardsNone')}
          min={1}
          max={100}
          clampBehavior="none"
          allowDecimal={false}
          value={draft.maxCards}
          error={said('maxCards')}
          onChange={(maxCards) => onChange({ maxCards })}
        />
      </div>
      <MinLevel value={draft.minLevel} onChange={(minLevel) => onChange({ minLevel })} />
    </div>
  );
}

function MinLevel({ value, onChange }: { value: string; onChange: (level: string) => void }) {
  const { t } = useTranslation('panels');
  const lookOf = useLevelLook();
  const levels = [...useLevels().values()].sort((a, b) => a.rank - b.rank);
  return (
    <Select
      label={t('minLevel')}
      description={t('minLevelHint')}
      placeholder={t('minLevelAll')}
      data={levels.map(({ name }) => ({ value: name, label: lookOf(name).word }))}
      value={value === '' ? null : value}
      onChange={(level) => onChange(level ?? '')}
      clearable
      clearButtonProps={{ 'aria-label': t('minLevelAll') }}
      renderOption={({ option }) => <LevelMark name={option.value} />}
    />
  );
}

function HourFields({ draft, problems, onChange }: FieldsOptions) {
  const { t } = useTranslation('panels');
  return (
    <div className={styles.fields}>
      <Switch
        label={t('sound')}
        description={t('soundHint')}
        checked={draft.sound}
        onChange={(event) => onChange({ sound: event.currentTarget.checked })}
      />
      {(['quiet', 'dim'] as const).map((window) => {
        const [from, until] = [`${window}From`, `${window}Until`] as const;
        const problem = problems[until];
        const name = t(window === 'quiet' ? 'quietHours' : 'dim');
        return (
          <fieldset key={window} className={styles.window}>
            <legend>{name}</legend>
            <p>{t(`${window}Hint`)}</p>
            <div className={styles.pair}>
              {([from, until] as const).map((field) => (
                <TextInput
                  key={field}
                  type="time"
                  aria-label={`${name}: ${t(field === from ? 'from' : 'until')}`}
                  value={draft[field]}
                  error={problem !== undefined && (draft[field] === '' ? t(problem) : true)}
                  onChange={(event) => onChange({ [field]: event.currentTarget.value })}
                />
              ))}
            </div>
          </fieldset>
        );
      })}
    </div>
  );
}

const locales = ['en-GB', 'en-US', 'de-DE', 'de-AT', 'de-CH'];

function PlaceFields({ draft, problems, onChange }: FieldsOptions) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  return (
    <div className={styles.fields}>
      <TimeZoneSelect
        label={t('timeZone')}
        description={t('timeZoneHint')}
        placeholder={t('timeZoneTenant', { zone: tenant.timeZone })}
        value={draft.timeZone}
        onChange={(timeZone) => onChange({ timeZone })}
        clearable
      />
      <Autocomplete
        label={t('locale')}
        description={t('localeHint')}
        placeholder={t('localeBrowser')}
        data={locales}
        value={draft.locale}
        maxLength={35}
        error={problems.locale && t(problems.locale)}
        onChange={(locale) => onChange({ locale })}
      />
    </div>
  );
}
