import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { panelPath, panelsKey, panelsQuery } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useDraft } from '#web/dashboard/pieces/fields/use-draft.ts';
import { DrawerFoot } from '#web/dashboard/pieces/layers/side-drawer.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { knownTags } from '../tag.ts';
import { TagsField } from '../tags-field.tsx';
import { DeletePanel } from './delete-panel.tsx';
import { DisplayFields } from './display-fields.tsx';
import styles from './panel.module.css';
import { draftOf, type PanelDraft, patchOf, problemsOf } from './panel-draft.ts';

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
          <ErrorNotice error={error} title={t('saveFailed')} />
        </div>
      )}
      <DrawerFoot>
        <DeletePanel panel={panel} onDeleted={onDeleted} />
        <Group gap="xs" wrap="nowrap">
          <span role="status" className="muted">
            {isDirty ? t('changed') : isSuccess ? t('saved', { ns: 'shell' }) : ''}
          </span>
          <Button disabled={!isDirty} onClick={draft.discard}>
            {t('discard')}
          </Button>
          <Button
            type="submit"
            variant="filled"
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
