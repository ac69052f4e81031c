import {
  Autocomplete,
  Fieldset,
  Group,
  NumberInput,
  Stack,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import { buttonSettings } from '#contract/panels/buttons.ts';
import type { Panel } from '#contract/panels/panel.ts';
import { panelPath, panelsQuery, putInList, useLevels } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Consequences } from '#web/dashboard/components/layers.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { LevelSelect, SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { changesOf } from '#web/dashboard/fields/form-values.ts';
import { DurationField, TimeField, TimeZoneSelect } from '#web/dashboard/fields/time-fields.tsx';
import { useScheme } from '#web/dashboard/theme/theme.ts';
import { TagsField } from './pairing.tsx';
import { knownTags, type PanelValues, patchOf, problemsOf, valuesOf } from './panel-values.ts';
import styles from './panels.module.css';
import { PhoneHours } from './phone-hours.tsx';

const locales = ['en-GB', 'en-US', 'de-DE', 'de-AT', 'de-CH'];

interface FieldsProps {
  readonly form: UseFormReturnType<PanelValues>;
}

/** Name, tags and display settings of a panel, those that its kind has. Connected screens apply them when they are saved. */
export function PanelForm({ panel, onClose }: { panel: Panel; onClose: () => void }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const client = useQueryClient();
  const { data: panels = [] } = useQuery(panelsQuery(tenant));
  const edit = useDrawerForm({
    saved: valuesOf(panel),
    validate: (values) =>
      Object.fromEntries(Object.entries(problemsOf(values)).map(([field, key]) => [field, t(key)])),
    async save(values, before) {
      const changes = changesOf(patchOf(before), patchOf(values));
      const saved = await tenant.api.patch<Panel>(panelPath(panel.id), changes);
      putInList(client, panelsQuery(tenant), saved, ({ id }) => id === saved.id);
    },
  });
  const { form } = edit;
  const isPhone = panel.kind === 'phone';
  return (
    <form onSubmit={edit.submit}>
      <section className={styles.part} aria-labelledby="panel-itself">
        <h3 id="panel-itself">{t('itself')}</h3>
        <Stack gap={14}>
          <TextInput label={t('name')} maxLength={100} {...form.getInputProps('name')} />
          <TagsField known={knownTags(panels)} {...form.getInputProps('tags')} />
          {isPhone ? (
            <MinLevelField form={form} />
          ) : (
            <TextInput
              label={t('location')}
              description={t('locationHint')}
              maxLength={200}
              {...form.getInputProps('location')}
            />
          )}
          <LostField form={form} />
          {isPhone && (
            <>
              <SegmentedField
                label={t('buttons')}
                description={t('buttonsHint')}
                value={form.values.actions}
                onChange={(value) => form.setFieldValue('actions', value)}
                options={buttonSettings.map((value) => [value, t(`buttons.${value}`)] as const)}
              />
              <Switch
                label={t('deleteClears')}
                description={t('deleteClearsHint')}
                {...form.getInputProps('deleteClears', { type: 'checkbox' })}
              />
              <LocaleField form={form} isPhone />
            </>
          )}
        </Stack>
      </section>
      {!isPhone && (
        <section className={styles.part} aria-labelledby="panel-look">
          <h3 id="panel-look">{t('look')}</h3>
          <ScreenPreview values={form.values} />
          <LookFields form={form} />
        </section>
      )}
      <section className={styles.part} aria-labelledby="panel-hours">
        <h3 id="panel-hours">{t('hours')}</h3>
        {isPhone ? (
          <PhoneHours
            form={form}
            hours={
              <>
                <WindowFields form={form} window="quiet" hint="phoneQuietHint" />
                <ZoneField form={form} />
              </>
            }
          />
        ) : (
          <HourFields form={form} />
        )}
      </section>
      {!isPhone && (
        <section className={styles.part} aria-labelledby="panel-place">
          <h3 id="panel-place">{t('place')}</h3>
          <Stack gap={14}>
            <ZoneField form={form} hint={t('timeZoneHint')} />
            <LocaleField form={form} />
          </Stack>
        </section>
      )}
      <EditFoot edit={edit}>
        <DeleteButton
          path={panelPath(panel.id)}
          list={['panels']}
          title={t('deleteTitle', { name: panel.name })}
          action={t('deleteDo')}
          isGone={({ id }: Panel) => id === panel.id}
          onDeleted={() => edit.leave(onClose)}
        >
          <DeleteConsequences panel={panel} />
        </DeleteButton>
      </EditFoot>
    </form>
  );
}

function ZoneField({ form, hint }: FieldsProps & { readonly hint?: string }) {
  const { t } = useTranslation('panels');
  return (
    <TimeZoneSelect
      label={t('timeZone')}
      description={hint}
      placeholder={t('timeZoneTenant', { zone: useTenant().timeZone })}
      clearable
      {...form.getInputProps('timeZone')}
    />
  );
}

/** On a phone, the language of the buttons. */
function LocaleField({ form, isPhone = false }: FieldsProps & { readonly isPhone?: boolean }) {
  const { t } = useTranslation('panels');
  return (
    <Autocomplete
      label={t(isPhone ? 'phoneLocale' : 'locale')}
      description={t(isPhone ? 'phoneLocaleHint' : 'localeHint')}
      placeholder={isPhone ? 'en' : t('localeBrowser')}
      data={isPhone ? ['en', 'de'] : locales}
      maxLength={35}
      {...form.getInputProps('locale')}
    />
  );
}

function MinLevelField({ form }: FieldsProps) {
  const { t } = useTranslation('panels');
  return (
    <LevelSelect
      label={t('minLevel')}
      description={t('minLevelHint')}
      emptyLabel={t('minLevelAll')}
      {...form.getInputProps('minLevel')}
    />
  );
}

const defaultLostMs = 300_000;

function LostField({ form }: FieldsProps) {
  const { t } = useTranslation('panels');
  const { lostMs } = form.values;
  return (
    <Stack gap={8}>
      <SegmentedField
        label={t('lost')}
        description={t('lostHint')}
        value={lostMs === 0 ? 'never' : 'after'}
        onChange={(kind) => form.setFieldValue('lostMs', kind === 'never' ? 0 : defaultLostMs)}
        options={[
          ['never', t('never')],
          ['after', t('lost.after')],
        ]}
      />
      {lostMs !== 0 && (
        <DurationField
          label={t('lost')}
          ms={lostMs}
          onChange={(ms) => form.setFieldValue('lostMs', ms)}
          error={form.errors.lostMs as string | undefined}
        />
      )}
    </Stack>
  );
}

function LookFields({ form }: FieldsProps) {
  const { t } = useTranslation('panels');
  const { scheme } = form.values;
  return (
    <Stack gap={14}>
      <SegmentedField
        label={t('theme')}
        value={scheme === '' ? 'dark' : scheme}
        onChange={(value) => form.setFieldValue('scheme', value)}
        options={(['dark', 'light', 'auto'] as const).map((value) => [value, t(`theme.${value}`)] as const)}
      />
      <Group grow gap="sm" align="flex-end">
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
          {...form.getInputProps('scalePercent')}
        />
        <NumberInput
          label={t('maxCards')}
          description={t('maxCardsHint')}
          placeholder={t('maxCardsNone')}
          min={1}
          max={100}
          clampBehavior="none"
          allowDecimal={false}
          {...form.getInputProps('maxCards')}
        />
      </Group>
      <TagsInput
        label={t('cardLabels')}
        description={t('cardLabelsHint')}
        placeholder={form.values.labels.length === 0 ? t('cardLabelsNone') : ''}
        maxTags={limits.cardLabels}
        splitChars={[',', ' ']}
        acceptValueOnBlur
        {...form.getInputProps('labels')}
        value={[...form.values.labels]}
      />
      <MinLevelField form={form} />
    </Stack>
  );
}

function HourFields({ form }: FieldsProps) {
  const { t } = useTranslation('panels');
  return (
    <Stack gap={14}>
      <Switch
        label={t('sound')}
        description={t('soundHint')}
        {...form.getInputProps('sound', { type: 'checkbox' })}
      />
      <WindowFields form={form} window="quiet" hint="quietHint" />
      <WindowFields form={form} window="dim" hint="dimHint" />
    </Stack>
  );
}

/** When hours of a day begin and end. */
function WindowFields({
  form,
  window,
  hint,
}: FieldsProps & {
  readonly window: 'quiet' | 'dim';
  readonly hint: 'quietHint' | 'dimHint' | 'phoneQuietHint';
}) {
  const { t } = useTranslation('panels');
  const error = form.errors[`${window}Until`];
  const name = t(window === 'quiet' ? 'quietHours' : 'dim');
  return (
    <Fieldset variant="unstyled" legend={name} classNames={{ legend: styles.legend ?? '' }}>
      <p className={styles.hint}>{t(hint)}</p>
      <Group grow gap="sm" align="flex-start">
        {(['From', 'Until'] as const).map((end) => (
          <TimeField
            key={end}
            aria-label={`${name}: ${t(end === 'From' ? 'from' : 'until')}`}
            {...form.getInputProps(`${window}${end}`)}
            error={error && (form.values[`${window}${end}`] === '' ? error : true)}
          />
        ))}
      </Group>
    </Fieldset>
  );
}

/** What will be lost with it. */
function DeleteConsequences({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { data: rules = [] } = useQuery(rulesQuery(useTenant()));
  const naming = rules.filter(({ then }) =>
    [then, ...(then.escalate ?? [])].some(
      ({ panels }) => typeof panels === 'object' && 'ids' in panels && panels.ids.includes(panel.id),
    ),
  );
  return (
    <Consequences>
      {panel.kind === 'phone' ? (
        <li>{t('deletePhone')}</li>
      ) : (
        <>
          <li>{t(panel.online ? 'deleteStream' : 'deleteOffline')}</li>
          <li>{t('deleteToken')}</li>
        </>
      )}
      <li>{t('deleteHistory')}</li>
      {naming.length > 0 && (
        <li>
          {t('deleteRules', { count: naming.length })}{' '}
          <strong>
            <bdi>{naming.map(({ name }) => name).join(', ')}</bdi>
          </strong>
        </li>
      )}
    </Consequences>
  );
}

/** A busy hour, the most serious first. */
const busy = [
  'critical',
  'error',
  'error',
  'warning',
  'warning',
  'warning',
  'info',
  'info',
  'success',
  'info',
  'info',
];
/** Rows of a 16:9 screen at 100 %, and the number of cards in each of the first, as on a panel. */
const rowsAtFull = 5;
const widths = [1, 2, 3, 3, 3, 3, 3, 3];

/** A small picture of the panel with these settings in a busy hour. */
function ScreenPreview({ values }: { values: PanelValues }) {
  const { t } = useTranslation('panels');
  const levels = useLevels();
  const lookOf = useLevelLook();
  const own = useScheme();
  const scheme = values.scheme === 'auto' ? own : values.scheme === 'light' ? 'light' : 'dark';
  const scale = Math.min(
    4,
    Math.max(0.5, Number(values.scalePercent === '' ? 100 : values.scalePercent) / 100 || 1),
  );
  const least = levels.get(values.minLevel)?.rank ?? 0;
  const wanted = busy.filter((level) => (levels.get(level)?.rank ?? 0) >= least);
  const rows = Math.max(1, Math.round(rowsAtFull / scale));
  const room = widths.slice(0, rows).reduce((sum, width) => sum + width, 0);
  const most = Math.min(room, Number(values.maxCards) || room);
  const fits = wanted.length <= most;
  const shown = wanted
    .slice(0, fits ? most : Math.max(0, most - 1))
    .map((level, place) => ({ level, place }));
  return (
    <figure className={styles.preview}>
      <div
        className={`${styles.screen} ${scheme}`}
        style={{ '--rows': rows, '--scale': scale } as object}
        aria-hidden="true"
      >
        <div className={styles.screenHead}>
          <i />
          <b />
          <em />
        </div>
        <div className={styles.cards}>
          {shown.map(({ level, place }) => (
            <span
              key={place}
              className={level === 'critical' ? styles.filledCard : styles.card}
              style={
                {
                  '--c': `var(--${level})`,
                  '--fill': lookOf(level).fill,
                  gridColumn: `span ${12 / (widths[rowOf(place)] ?? 3)}`,
                } as object
              }
            >
              <i className={styles.mark} />
              <i className={styles.line} />
            </span>
          ))}
          {!fits && (
            <span className={styles.more} style={{ gridColumn: 'span 4' }}>
              +{wanted.length - shown.length}
            </span>
          )}
        </div>
      </div>
      <figcaption className="muted">{t('previewCaption')}</figcaption>
    </figure>
  );
}

/** The row that the n-th card stands in. */
function rowOf(n: number): number {
  let before = 0;
  const at = widths.findIndex((width) => {
    before += width;
    return n < before;
  });
  return at === -1 ? widths.length - 1 : at;
}
