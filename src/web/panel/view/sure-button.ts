/** A button that asks once more before it does what cannot be taken back at the screen. */
import { element, setText } from '#web/dom.ts';

export interface SureButton {
  readonly root: HTMLButtonElement;
  /** Shows its text anew. */
  update(): void;
  /** Asks from the beginning again. */
  reset(): void;
}

interface SureButtonOptions {
  readonly className: string;
  readonly text: () => string;
  /** What it says after the first press, for four seconds. */
  readonly sureText: () => string;
  /** false: the first press is enough. */
  readonly asks: () => boolean;
  readonly onPress: () => void;
}

const sureMs = 4_000;

export function createSureButton({
  className,
  text,
  sureText,
  asks,
  onPress,
}: SureButtonOptions): SureButton {
  const root = element('button', { class: className, type: 'button' });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = () => setText(root, timer === undefined ? text() : sureText());
  const reset = () => {
    clearTimeout(timer);
    timer = undefined;
    update();
  };
  root.addEventListener('click', () => {
    const isSure = timer !== undefined || !asks();
    reset();
    if (isSure) return onPress();
    timer = setTimeout(reset, sureMs);
    update();
  });
  update();
  return { root, update, reset };
}
