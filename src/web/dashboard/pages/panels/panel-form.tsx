import { Autocomplete, Fieldset, Group, NumberInput, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import { panelPath, panelsQuery, putInList } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Consequences } from '#web/dashboard/components/layers.tsx';
import { DurationField } from '#web/dashboard/fields/duration-field.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { LevelSelect } from '#web/dashboard/fields/level-select.tsx';
import { changesOf } from '#web/dashboard/fields/rebase.ts';
import { SegmentedField } from '#web/dashboard/fields/segmented-field.tsx';
import { TimeField } from '#web/dashboard/fields/time-field.tsx';
import { TimeZoneSelect } from '#web/dashboard/fields/time-zone-select.tsx';
import styles from './panel-drawer.module.css';
import { knownTags, type PanelValues, patchOf, problemsOf, valuesOf } from './panel-values.ts';
import { ScreenPreview } from './screen-preview.tsx';
import { TagsField } from './tags-field.tsx';

const locales = ['en-GB', 'en-US', 'de-DE', 'de-AT', 'de-CH'];

interface FieldsProps {
  readonly form: UseFormReturnType<PanelValues>;
}

/** Name, tags, location and display settings of a panel. Connected screens apply them when they are saved. */
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
  return (
    <form onSubmit={edit.submit}>
      <section className={styles.part} aria-labelledby="panel-itself">
        <h3 id="panel-itself">{t('itself')}</h3>
        <Stack gap={14}>
          <TextInput label={t('name')} maxLength={100} {...form.getInputProps('name')} />
          <TagsField known={knownTags(panels)} {...form.getInputProps('tags')} />
          <TextInput
            label={t('location')}
            description={t('locationHint')}
            maxLength={200}
            {...form.getInputProps('location')}
          />
          <LostField form={form} />
        </Stack>
      </section>
      <section className={styles.part} aria-labelledby="panel-look">
        <h3 id="panel-look">{t('look')}</h3>
        <ScreenPreview values={form.values} />
        <LookFields form={form} />
      </section>
      <section className={styles.part} aria-labelledby="panel-hours">
        <h3 id="panel-hours">{t('hours')}</h3>
        <HourFields form={form} />
      </section>
      <section className={styles.part} aria-labelledby="panel-place">
        <h3 id="panel-place">{t('place')}</h3>
        <Stack gap={14}>
          <TimeZoneSelect
            label={t('timeZone')}
            description={t('timeZoneHint')}
            placeholder={t('timeZoneTenant', { zone: tenant.timeZone })}
            clearable
            {...form.getInputProps('timeZone')}
          />
          <Autocomplete
            label={t('locale')}
            description={t('localeHint')}
            placeholder={t('localeBrowser')}
            data={locales}
            maxLength={35}
            {...form.getInputProps('locale')}
          />
        </Stack>
      </section>
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
      <LevelSelect
        label={t('minLevel')}
        description={t('minLevelHint')}
        emptyLabel={t('minLevelAll')}
        {...form.getInputProps('minLevel')}
      />
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
      {(['quiet', 'dim'] as const).map((window) => {
        const error = form.errors[`${window}Until`];
        const name = t(window === 'quiet' ? 'quietHours' : 'dim');
        return (
          <Fieldset
            key={window}
            variant="unstyled"
            legend={name}
            classNames={{ legend: styles.legend ?? '' }}
          >
            <p className={styles.hint}>{t(`${window}Hint`)}</p>
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
      })}
    </Stack>
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
      <li>{t(panel.online ? 'deleteStream' : 'deleteOffline')}</li>
      <li>{t('deleteToken')}</li>
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
