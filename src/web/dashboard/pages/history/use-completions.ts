import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import {
  type ChangeEvent,
  type KeyboardEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { type SearchKey, searchKeys, valueKeys } from '#contract/history/fields.ts';
import { fieldValuesQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { toDateTimeField } from '#web/dashboard/formats/wall-clock.ts';
import {
  type CompletionRequest,
  complete,
  completionAt,
  matchingValues,
  states,
} from '#web/dashboard/query/completion.ts';
import { quickRanges } from '#web/dashboard/query/time-range.ts';

export interface Completing {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly draft: string;
  readonly onDraft: (text: string) => void;
  /** Moves to the rows. */
  readonly onDown: () => void;
}

/** The keys of the search field, with and without suggestions. */
export function useCompleting(
  { input, draft, onDraft, onDown }: Completing,
  onMoved: () => void,
): {
  readonly ask: CompletionRequest | undefined;
  readonly choices: readonly string[];
  readonly active: number;
  readonly take: (choice: string) => void;
  readonly close: () => void;
  readonly field: object;
} {
  /** The caret; undefined while nothing is suggested. */
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(-1);
  const wanted = useRef<number>(undefined);
  const ask = caret === undefined ? undefined : offeredCompletion(draft, completionAt(draft, caret));
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
    // After a key its values are suggested.
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

/** Nothing is suggested between words; in an empty search the keys are. */
function offeredCompletion(text: string, ask: CompletionRequest | undefined): CompletionRequest | undefined {
  if (ask?.key !== undefined || ask?.prefix !== '' || text === '') return ask;
  return undefined;
}

const most = 10;
const settleMs = 120;

/** Suggestions at the caret, the likeliest first. */
function useCompletions(ask: CompletionRequest | undefined): readonly string[] {
  const tenant = useTenant();
  const levels = useLevels();
  const key = ask?.key;
  const asked = valueKeys.find((each) => each === key);
  const [prefix] = useDebouncedValue(ask?.prefix ?? '', settleMs);
  const { data } = useQuery({
    ...fieldValuesQuery(tenant, asked ?? 'host', prefix.slice(0, 255)),
    enabled: asked !== undefined,
    // Values of another key must not be shown.
    placeholderData: (previous, query) => (query?.queryKey.at(-2) === key ? previous : undefined),
  });
  if (!ask) return [];
  if (key === undefined) return matchingValues(searchKeys, ask.prefix, searchKeys.length);
  if (asked) return matchingValues(data ?? [], ask.prefix, most);
  if (key === 'level') return matchingValues(levelChoices([...levels.values()], ask), ask.prefix, most * 2);
  return matchingValues(fixed(key, tenant), ask.prefix, most);
}

function levelChoices(
  levels: readonly { readonly name: string; readonly rank: number }[],
  { operator, prefix }: CompletionRequest,
): string[] {
  const names = levels.toSorted((a, b) => b.rank - a.rank).map(({ name }) => name);
  if (operator !== '' || prefix !== '') return names;
  return [...names, ...names.slice(1, -1).map((name) => `>=${name}`)];
}

function fixed(key: SearchKey, { timeZone }: Tenant): readonly string[] {
  if (key === 'is') return states;
  if (key === 'since') return quickRanges;
  const day = (ago: number) => toDateTimeField(Date.now() - ago * 86_400_000, timeZone);
  return [...[0, 1, 7].map((ago) => day(ago).slice(0, 10)), `${day(0).slice(0, 13)}:00`];
}
