/** Pages and dialogs in chunks of their own, which are loaded when they are drawn first. */
import { type ComponentType, useEffect, useState } from 'react';
import { ApiError } from '#client/call.ts';
import { sentenceOf } from '../api/call.ts';
import { ErrorNotice, showFailure } from './notice.tsx';

export interface NotLoadedProps {
  readonly onRetry: () => void;
}

export const unreachable = new ApiError(0, 'the server does not respond');

/**
 * A component that is loaded by `load` when it is drawn or preloaded, and draws nothing until then. If that fails although the
 * server responds, the server has other files since an upgrade, and the page is reloaded. `NotLoaded` is drawn if the server does
 * not respond. A failed chunk is not loaded again before a reload: browsers remember the failure of its scripts and styles.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  NotLoaded: ComponentType<Props & NotLoadedProps>,
) {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const start = () => {
    loading ??= load().then((component) => {
      Loaded = component;
    });
    return loading;
  };
  function LazyPart(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading');
    useEffect(() => {
      start().then(
        () => setState('loaded'),
        async () => {
          if (isFirstReload()) await reload();
          setState('failed');
        },
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return state === 'failed' ? <NotLoaded {...props} onRetry={() => void reload()} /> : null;
  }
  return Object.assign(LazyPart, { preload: () => start().catch(() => undefined) });
}

/** For a part of a page. */
export function PartNotLoaded({ onRetry }: NotLoadedProps) {
  return <ErrorNotice error={unreachable} onRetry={onRetry} />;
}

/** For a dialog or drawer that cannot be loaded: says so, and closes it. */
export function LayerNotLoaded({ onClose }: { onClose: () => void }) {
  useEffect(() => {
    showFailure({ message: sentenceOf(unreachable) });
    onClose();
  }, [onClose]);
  return null;
}

const reloadedAtKey = 'belfry.reloadedAt';
const reloadPauseMs = 30_000;
const reloadMs = 5_000;

/** False after a reload that has not helped. */
function isFirstReload(): boolean {
  try {
    return Date.now() - Number(sessionStorage.getItem(reloadedAtKey)) > reloadPauseMs;
  } catch {
    // Without storage, a loop could not be prevented.
    return false;
  }
}

/** Reloads the page if the server responds; otherwise the browser would show an error page of its own. */
async function reload(): Promise<void> {
  const isThere = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isThere) return;
  try {
    sessionStorage.setItem(reloadedAtKey, String(Date.now()));
  } catch {
    // Only automatic reloads need it.
  }
  location.reload();
  // It goes on from here if the person chose to stay because of unsaved changes.
  await new Promise((resolve) => setTimeout(resolve, reloadMs));
}
