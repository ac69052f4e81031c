export const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

/**
 * A button is disabled while its request runs, and so it loses the focus. From now on each such button gets it back at the
 * end; if it is still disabled then, because everything is saved, the topmost dialog or drawer gets it.
 */
export function keepFocusOfBusyButtons(): void {
  let focused: Node | undefined;
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLButtonElement)) continue;
      if (target.hasAttribute('data-loading')) {
        if (target === document.activeElement) focused = target;
      } else if (target === focused) {
        focused = undefined;
        if (isFocusLost()) target.focus({ preventScroll: true });
        if (isFocusLost()) [...document.querySelectorAll<HTMLElement>('[aria-modal="true"]')].at(-1)?.focus();
      }
    }
  });
  observer.observe(document, { subtree: true, attributeFilter: ['data-loading'] });
}
