import {
  type ChangeEvent,
  type KeyboardEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { type CompletionAsk, complete, completionAt } from '#web/dashboard/query/completion.ts';
import { useCompletions } from './use-completions.ts';

export interface Completing {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly draft: string;
  readonly onDraft: (text: string) => void;
  /** To the rows. */
  readonly onDown: () => void;
}

/** What the input does with the keyboard while something is offered, and when nothing is. */
export function useCompleting(
  { input, draft, onDraft, onDown }: Completing,
  onMoved: () => void,
): {
  readonly ask: CompletionAsk | undefined;
  readonly choices: readonly string[];
  readonly active: number;
  readonly take: (choice: string) => void;
  readonly close: () => void;
  readonly field: object;
} {
  /** Where the caret is while something may be offered. */
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(-1);
  const wanted = useRef<number>(undefined);
  const ask = caret === undefined ? undefined : worthOffering(draft, completionAt(draft, caret));
  const choices = useCompletions(ask);
  useLayoutEffect(() => {
    if (wanted.current !== undefined) input.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
    onMoved();
  });
  const close = () => {
    setCaret(undefined);
    setActive(-1);
  };
  const take = (choice: string) => {
    if (!ask) return;
    const done = complete(draft, ask, choice);
    wanted.current = done.caret;
    onDraft(done.text);
    setActive(-1);
    // Behind a key its values follow.
    setCaret(ask.key === undefined ? done.caret : undefined);
  };
  const isOpen = ask !== undefined && choices.length > 0;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const chosen = choices[active];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      setCaret(event.currentTarget.selectionStart ?? draft.length);
    } else if (isOpen && step !== undefined) {
      event.preventDefault();
      setActive((active + step + choices.length + (active < 0 && step < 0 ? 1 : 0)) % choices.length);
    } else if (isOpen && chosen !== undefined && (event.key === 'Enter' || event.key === 'Tab')) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      onDown();
    } else if (event.key === 'Escape') {
      if (isOpen) close();
      else input.current?.blur();
    }
  };
  return {
    ask: isOpen ? ask : undefined,
    choices,
    active,
    take,
    close,
    field: {
      onKeyDown,
      onBlur: close,
      onChange: (event: ChangeEvent<HTMLInputElement>) => {
        onDraft(event.currentTarget.value);
        setCaret(event.currentTarget.selectionStart ?? undefined);
        setActive(-1);
      },
      onFocus: () => draft === '' && setCaret(0),
      onSelect: onMoved,
    },
  };
}

/** Not between words, where anything could follow; but in an empty search the keys say what can be asked. */
function worthOffering(text: string, ask: CompletionAsk | undefined): CompletionAsk | undefined {
  if (ask?.key !== undefined || ask?.prefix !== '' || text === '') return ask;
  return undefined;
}
