/** Sentences of which some parts are drawn differently. */

/** `value` is a person's text, `mono` a technical one, `level` is drawn in its colour. */
export interface SentencePart {
  readonly kind: 'word' | 'value' | 'mono' | 'level';
  readonly text: string;
  /** The level's name, where `kind` is `level`; `text` is its word. */
  readonly level?: string;
}
export type Sentence = readonly SentencePart[];

export const sentenceText = (sentence: Sentence): string => sentence.map(({ text }) => text).join('');

/** A placeholder in a translated text. */
export const slot = (name: string) => `\uE000${name}\uE000`;
export const slots = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, slot(name)])) as Record<Name, string>;
export const valuesSlot = { values: slot('values') };

/** Replaces the placeholders of a text. */
export function fill(text: string, parts: Readonly<Record<string, Sentence>>): Sentence {
  return text
    .split('\uE000')
    .flatMap((piece, i) => (i % 2 === 1 ? (parts[piece] ?? []) : piece === '' ? [] : [word(piece)]));
}

export function join(sentences: readonly Sentence[], between: string): Sentence {
  return sentences.flatMap((sentence, i) => (i === 0 ? sentence : [word(between), ...sentence]));
}

export const word = (text: string): SentencePart => ({ kind: 'word', text });
export const value = (text: string): SentencePart => ({ kind: 'value', text });
export const mono = (text: string): SentencePart => ({ kind: 'mono', text });
