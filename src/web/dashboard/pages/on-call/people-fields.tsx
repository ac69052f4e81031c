/** The people and the shifts of an on-call schedule. */
import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, MultiSelect, NativeSelect, TagsInput, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { channelsQuery, panelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { knownTags } from '../panels/panel-values.ts';
import { WindowFields } from '../rule-editor/time-rows.tsx';
import styles from './on-call.module.css';
import {
  newPerson,
  newShift,
  type OnCallValues,
  type PersonValues,
  withoutPerson,
  withPerson,
} from './on-call-values.ts';

interface FormProps {
  readonly form: UseFormReturnType<OnCallValues>;
}

export function PeopleFields({ form }: FormProps) {
  const { t } = useTranslation('onCall');
  const { people } = form.values;
  return (
    <fieldset className={styles.list}>
      <legend>{t('people')}</legend>
      {people.map((person, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a person is known by their place alone
        <PersonFields key={at} form={form} person={person} at={at} />
      ))}
      <AddButton onClick={() => form.setFieldValue('people', [...people, newPerson])}>
        {t('addPerson')}
      </AddButton>
    </fieldset>
  );
}

function PersonFields({ form, person, at }: FormProps & { person: PersonValues; at: number }) {
  const { t } = useTranslation('onCall');
  const { data: channels = [] } = useQuery(channelsQuery(useTenant()));
  const { values, errors } = form;
  const change = (some: Partial<PersonValues>) =>
    form.setValues(withPerson(values, at, { ...person, ...some }));
  const label = person.name.trim() || t('person', { number: at + 1 });
  return (
    <fieldset className={styles.item} aria-label={label}>
      <div className={styles.head}>
        <TextInput
          label={t('name')}
          maxLength={100}
          value={person.name}
          error={errors[`people.${at}.name`]}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
        />
        {values.people.length > 1 && (
          <RemoveButton
            label={t('removePerson', { name: label })}
            onClick={() => form.setValues(withoutPerson(values, at))}
          />
        )}
      </div>
      <MultiSelect
        label={t('channels')}
        placeholder={person.channels.length === 0 ? t('chooseChannels') : ''}
        searchable
        data={namesOf(channels, person.channels)}
        value={person.channels}
        onChange={(next) => change({ channels: next })}
      />
      <PanelFields person={person} onChange={change} error={errors[`people.${at}.panels`]} />
      {values.source === 'calendar' && (
        <TagsInput
          label={t('calendarNames')}
          description={t('calendarNamesHint')}
          value={person.calendarNames}
          onChange={(calendarNames) => change({ calendarNames })}
        />
      )}
    </fieldset>
  );
}

function PanelFields({
  person,
  onChange,
  error,
}: {
  person: PersonValues;
  onChange: (some: Partial<PersonValues>) => void;
  error: React.ReactNode;
}) {
  const { t } = useTranslation('onCall');
  const { data: panels = [] } = useQuery(panelsQuery(useTenant()));
  const { by, ids, tags } = person;
  return (
    <div className={styles.panels}>
      <NativeSelect
        label={t('panels')}
        value={by}
        onChange={({ currentTarget }) => onChange({ by: currentTarget.value as PersonValues['by'] })}
        data={(['none', 'ids', 'tags'] as const).map((each) => ({ value: each, label: t(`panels.${each}`) }))}
      />
      {by === 'ids' && (
        <MultiSelect
          aria-label={t('panels.ids')}
          placeholder={ids.length === 0 ? t('choosePanels') : ''}
          error={error}
          searchable
          data={namesOf(panels, ids)}
          value={ids}
          onChange={(next) => onChange({ ids: next })}
        />
      )}
      {by === 'tags' && (
        <TagsInput
          aria-label={t('panels.tags')}
          error={error}
          splitChars={[',', ' ']}
          data={knownTags(panels)}
          value={tags}
          onChange={(next) => onChange({ tags: next })}
        />
      )}
    </div>
  );
}

/** What can be chosen, and what is chosen although it is deleted. */
function namesOf(
  known: readonly { readonly id: string; readonly name: string }[],
  chosen: readonly string[],
) {
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return [...new Set([...names.keys(), ...chosen])].map((id) => ({ value: id, label: names.get(id) ?? id }));
}

export function ShiftFields({ form }: FormProps) {
  const { t } = useTranslation('onCall');
  const { shifts, people } = form.values;
  const names = [...new Set(people.map(({ name }) => name.trim()).filter((name) => name !== ''))];
  return (
    <fieldset className={styles.list}>
      <legend>{t('shifts')}</legend>
      {shifts.map((shift, at) => {
        const { people: turns, ...window } = shift;
        const set = (some: Partial<typeof shift>) =>
          form.setFieldValue('shifts', shifts.with(at, { ...shift, ...some }));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a shift is known by its place alone
          <fieldset key={at} className={styles.item} aria-label={t('shift', { number: at + 1 })}>
            <div className={styles.times}>
              <WindowFields value={window} onChange={set} />
              {shifts.length > 1 && (
                <RemoveButton
                  label={t('removeShift', { number: at + 1 })}
                  onClick={() => form.setFieldValue('shifts', shifts.toSpliced(at, 1))}
                />
              )}
            </div>
            <MultiSelect
              label={t('turns')}
              placeholder={turns.length === 0 ? t('choosePeople') : ''}
              error={form.errors[`shifts.${at}.people`]}
              data={names}
              value={turns}
              onChange={(next) => set({ people: next })}
            />
          </fieldset>
        );
      })}
      <AddButton onClick={() => form.setFieldValue('shifts', [...shifts, newShift(names)])}>
        {t('addShift')}
      </AddButton>
    </fieldset>
  );
}

function AddButton({ children, onClick }: { children: string; onClick: () => void }) {
  return (
    <Button
      size="xs"
      variant="subtle"
      className={styles.add ?? ''}
      leftSection={<Icon paths={plusIcon} size={14} />}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
      <Icon paths={removeIcon} size={16} />
    </ActionIcon>
  );
}
