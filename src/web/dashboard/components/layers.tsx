/** Dialogs and drawers: the topmost has the keyboard, and the focus returns to where it was when it closes. */
import { Button, Drawer, type DrawerProps, Group, Modal, type ModalProps, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ErrorTexts } from '../api/call.ts';
import { createStore, useStore } from '../store.ts';
import { isFocusLost } from './keyboard.ts';
import styles from './layers.module.css';
import { ErrorNotice } from './notice.tsx';

const layers = createStore<readonly symbol[]>([]);
/** Where a closing layer returns the focus to; a layer that opens at the same moment takes this over. */
let returnTo: Element | null = null;

/** Adds a layer while the component is drawn. True while it is the topmost: Esc is for it. */
function useLayer(): boolean {
  const [own] = useState(() => Symbol('layer'));
  useLayoutEffect(() => {
    const before = isFocusLost() ? returnTo : document.activeElement;
    layers.set([...layers.get(), own]);
    return () => {
      layers.set(layers.get().filter((each) => each !== own));
      returnTo ??= before;
      // Whatever closed the layer may move the focus itself, at once.
      setTimeout(() => {
        returnTo = null;
        restoreFocus(before);
      });
    };
  }, [own]);
  return useStore(layers).at(-1) === own;
}

/** To the element that had the focus; if it is gone, to the topmost layer, or the page's heading. */
function restoreFocus(before: Element | null): void {
  if (!isFocusLost()) return;
  if (before instanceof HTMLElement && before !== document.body) before.focus({ preventScroll: true });
  if (document.activeElement === document.body && layers.get().length > 0)
    [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)?.focus();
  if (isFocusLost() && before?.isConnected === false)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
}

/** A window in the middle, over everything, open for as long as it is drawn. */
export function Dialog({ closeOnEscape = true, ...props }: Omit<ModalProps, 'opened'>) {
  const { t } = useTranslation();
  const isTopmost = useLayer();
  return (
    <Modal
      opened
      closeOnEscape={closeOnEscape && isTopmost}
      classNames={{ title: styles.title ?? '' }}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}

/** The first words of what replaces a dialog's content. They get the focus, which was on a button that is gone. */
export function NewContent({
  className = '',
  ...props
}: {
  className?: string;
  role?: 'status';
  children: ReactNode;
}) {
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => text.current?.focus(), []);
  return <div ref={text} tabIndex={-1} className={`${styles.newContent} ${className}`} {...props} />;
}

export interface DialogFormProps {
  /** The submit button's verb, never "OK". */
  readonly action: string;
  readonly request: { readonly error: Error | null; readonly isPending: boolean };
  readonly errorTitle?: string;
  readonly errorTexts?: ErrorTexts;
  readonly isDisabled?: boolean;
  readonly isDangerous?: boolean;
  /** Left out where there is nothing to submit. */
  readonly onSubmit?: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** The content of a dialog: its fields, the server's error, and the buttons. */
export function DialogForm(props: DialogFormProps) {
  const { t } = useTranslation();
  const { request, isDangerous = false, onSubmit } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // A dialog over a form is inside it for React.
    event.stopPropagation();
    if (!props.isDisabled) onSubmit?.();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {props.children}
        {request.error && (
          <ErrorNotice
            error={request.error}
            title={props.errorTitle ?? t('failed')}
            {...(props.errorTexts && { texts: props.errorTexts })}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button onClick={props.onClose} data-autofocus={isDangerous || undefined}>
            {t('cancel')}
          </Button>
          {onSubmit && (
            <Button
              type="submit"
              variant="filled"
              {...(isDangerous && { color: 'error' })}
              loading={request.isPending}
              disabled={props.isDisabled ?? false}
            >
              {props.action}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Asks before something that cannot be undone, and says what will happen. */
export function Confirm({
  title,
  onConfirm,
  ...props
}: Pick<DialogFormProps, 'action' | 'onClose' | 'children'> & {
  title: string;
  onConfirm: () => Promise<unknown>;
}) {
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: props.onClose });
  return (
    <Dialog onClose={props.onClose} title={title}>
      <DialogForm {...props} isDangerous request={confirm} onSubmit={() => confirm.mutate()}>
        <div>{props.children}</div>
      </DialogForm>
    </Dialog>
  );
}

/** The button for something that cannot be undone: it opens {@link Confirm}. */
export function ConfirmButton({
  label,
  ...props
}: Omit<Parameters<typeof Confirm>[0], 'onClose'> & { readonly label: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="subtle" color="error" onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Confirm {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

/** What will happen, an <li> each. */
export function Consequences({ children }: { children: ReactNode }) {
  return <ul className={styles.consequences}>{children}</ul>;
}

/** Comes in from the side over the page, open for as long as it is drawn. */
export function SideDrawer({
  classNames,
  closeOnEscape = true,
  ...props
}: Omit<DrawerProps, 'opened' | 'classNames'> & {
  readonly classNames?: Readonly<Record<string, string>>;
}) {
  const { t } = useTranslation();
  const isTopmost = useLayer();
  return (
    <Drawer
      opened
      closeOnEscape={closeOnEscape && isTopmost}
      position="right"
      size={520}
      overlayProps={{ backgroundOpacity: 0.25 }}
      classNames={{ title: styles.title ?? '', body: styles.body ?? '', ...classNames }}
      closeButtonProps={{ 'aria-label': t('close') }}
      {...props}
    />
  );
}

/** The buttons of a drawer; they stay in sight while the rest scrolls. */
export function DrawerFoot({ children }: { children: ReactNode }) {
  return <div className={styles.foot}>{children}</div>;
}

/** Opens another item, or none. @param replace The way back does not lead to what is open now. */
export type Open = (id: string | undefined, replace?: boolean) => void;

/** For `id` on pages with generated ids: an item that is not there yet. */
export const newItem = 'new';

/** The item of a list that is open, by the `id` of the address, and how another is opened, or none. */
export function useOpened(): readonly [id: string | undefined, open: Open] {
  const { id } = useSearch({ strict: false });
  const pathname = useLocation({ select: (location) => location.pathname });
  const navigate = useNavigate();
  const router = useRouter();
  const open: Open = (opened, replace = opened === undefined) => {
    // Called after an answer, it must not act on what the person opened in the meantime.
    const { pathname: path, search } = router.latestLocation;
    if (path !== pathname || textOf(search) !== textOf({ id })) return;
    void navigate({
      to: '.',
      search: ({ id: _, ...others }) => (opened === undefined ? others : { ...others, id: opened }),
      replace,
    });
  };
  return [id, open];
}

/** The router reads digits as a number. */
const textOf = ({ id }: { readonly id?: unknown }): string => String(id ?? '');
