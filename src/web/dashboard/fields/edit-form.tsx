/** Edit forms: changes stay until they are saved or discarded; what others save in the meantime is taken over where nothing was changed. */
import { Button, Group } from '@mantine/core';
import { type FormErrors, type UseFormReturnType, useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useCallback, useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { useTenant } from '../api/tenant.tsx';
import { Confirm, ConfirmButton, DrawerFoot } from '../components/layers.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import { type RefusedField, rebase } from './form-values.ts';

export interface EditForm<Values> {
  readonly form: UseFormReturnType<Values>;
  readonly isDirty: boolean;
  readonly isPending: boolean;
  readonly isSaved: boolean;
  readonly canSave: boolean;
  readonly error: Error | null;
  /** Saves the values if they are valid; what is typed meanwhile stays, unsaved. */
  submit(event?: FormEvent): void;
  discard(): void;
}

/**
 * @param options.validate The errors by field; each is shown at its field after the first change.
 * @param options.save Saves only what differs from `before`, so that nothing is undone that others saved.
 * @param options.refusedField The field that the server's error is about: the error is shown there, if the form draws it.
 */
export function useEditForm<Values extends object>({
  saved,
  validate,
  save,
  refusedField,
}: {
  saved: Values;
  validate: (values: Values) => FormErrors;
  save: (values: Values, before: Values) => Promise<unknown>;
  refusedField?: (error: Error, values: Values) => RefusedField | undefined;
}): EditForm<Values> {
  const form: UseFormReturnType<Values> = useForm<Values>({
    initialValues: saved,
    validate,
    onValuesChange(values) {
      form.setErrors(validate(values));
      if ((form.isDirty() || request.isError) && !request.isPending) request.reset();
    },
  });
  const request = useMutation({
    mutationFn: ({ values, before }: { values: Values; before: Values }) => save(values, before),
    onError(failure) {
      const refused = refusedField?.(failure, form.values);
      const field = refused && form.getInputNode(refused.path);
      if (!field) return;
      // The error must be drawn before the focus, so that a screen reader reads it with the field.
      flushSync(() => form.setFieldError(refused.path, refused.text));
      field.focus();
    },
  });
  const { isPending, error } = request;
  const refused = error && refusedField?.(error, form.values);
  const isDirty = form.isDirty();
  const canSave = isDirty && form.isValid() === true;
  const show = (values: Values) => {
    form.resetDirty(saved);
    form.setValues(values);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content of what is saved, not the object.
  useEffect(() => {
    show(rebase(form.getInitialValues(), form.getValues(), saved));
  }, [JSON.stringify(saved)]);
  return {
    form,
    isDirty,
    isPending,
    isSaved: request.isSuccess && !isDirty,
    canSave,
    error: refused && form.errors[refused.path] !== undefined ? null : error,
    submit(event) {
      event?.preventDefault();
      const { values } = form;
      const before = form.getInitialValues();
      const onSuccess = () => form.resetDirty(rebase(before, values, form.getInitialValues()));
      if (canSave) request.mutate({ values, before }, { onSuccess });
    },
    discard: () => show(saved),
  };
}

export interface DrawerForm<Values> extends EditForm<Values> {
  /** Drawn by {@link EditFoot}. */
  readonly question: ReactNode;
  /** Leaves without asking: everything is saved, or deleted. */
  leave(go: () => void): void;
}

/** A form in a drawer that is open by the `id` of the address: it asks before it closes while something is not saved. */
export function useDrawerForm<Values extends object>(
  options: Parameters<typeof useEditForm<Values>>[0],
): DrawerForm<Values> {
  const edit = useEditForm(options);
  return { ...edit, ...useUnsavedQuestion(edit.isDirty) };
}

/** The end of a form in a drawer: the error, the delete button, and discard and save. */
export function EditFoot<Values>({ edit, children }: { edit: DrawerForm<Values>; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <>
      {edit.error && <ErrorNotice error={edit.error} title={t('saveFailed')} />}
      <DrawerFoot>
        {children}
        <Group gap="xs" wrap="nowrap">
          <span role="status" className="muted">
            {edit.isDirty ? t('unsavedChanges') : edit.isSaved ? t('saved') : ''}
          </span>
          <Button flex="none" disabled={!edit.isDirty} onClick={edit.discard}>
            {t('discard')}
          </Button>
          <Button
            type="submit"
            variant="filled"
            flex="none"
            loading={edit.isPending}
            disabled={!edit.canSave}
          >
            {t('save')}
          </Button>
        </Group>
      </DrawerFoot>
      {edit.question}
    </>
  );
}

/**
 * Asks first. Then deletes the resource at `path`, calls `onDeleted`, and reloads the list.
 * @param props.isGone Whether a row of the list is that resource; left out where it stays listed, as a revoked token does.
 */
export function DeleteButton<Row>({
  path,
  list,
  label,
  isGone,
  onDeleted,
  ...question
}: Omit<Parameters<typeof ConfirmButton>[0], 'label' | 'onConfirm'> & {
  path: string;
  list: readonly string[];
  label?: string;
  isGone?: (row: Row) => boolean;
  onDeleted?: () => void;
}) {
  const { t } = useTranslation();
  const { api, key } = useTenant();
  const client = useQueryClient();
  const queryKey = [...key, ...list];
  const reload = () => client.invalidateQueries({ queryKey, exact: true });
  const remove = async () => {
    await api.delete(path).catch((error: unknown) => {
      // Somebody else may have deleted it.
      void reload();
      throw error;
    });
    if (isGone) client.setQueryData<Row[]>(queryKey, (rows) => rows?.filter((row) => !isGone(row)));
    onDeleted?.();
    await reload();
  };
  return <ConfirmButton {...question} label={label ?? t('deleteAsk')} onConfirm={remove} />;
}

/**
 * For a drawer that is open by the `id` of the address. Closing it in any way (click outside, Esc, back, another page) asks first
 * while there are unsaved changes.
 */
export function useUnsavedQuestion(
  isUnsaved: boolean,
  texts?: { readonly title: string; readonly about: string },
): Pick<DrawerForm<unknown>, 'question' | 'leave'> {
  const { t } = useTranslation();
  const isLeaving = useRef(false);
  const unsaved = useRef(isUnsaved);
  unsaved.current = isUnsaved;
  // They read the refs when they are called, so that the latest change counts.
  const isKept = useCallback(() => unsaved.current && !isLeaving.current, []);
  const shouldBlockFn = useCallback<ShouldBlockFn>(
    ({ current, next }) => {
      const isHere = current.pathname === next.pathname && idOf(current.search) === idOf(next.search);
      return !isHere && isKept();
    },
    [isKept],
  );
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload: isKept, withResolver: true });
  const question = blocker.status === 'blocked' && (
    <Confirm
      title={texts?.title ?? t('unsaved')}
      action={t('discard')}
      onConfirm={async () => blocker.proceed()}
      onClose={blocker.reset}
    >
      {texts?.about ?? t('unsavedAbout')}
    </Confirm>
  );
  return {
    question,
    leave(go) {
      isLeaving.current = true;
      go();
    },
  };
}

const idOf = (search: object) => ('id' in search ? search.id : undefined);
