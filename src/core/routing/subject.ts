import type { OptionalTexts, PatternFieldName } from '#contract/history/fields.ts';
import { labelEntries } from '#contract/history/labels.ts';
import { type AddressKey, findAddressKey } from '../addresses.ts';
import { foldCase } from './glob.ts';
import { regexBudgetSpent, regexWorkPerNotification } from './regex.ts';

/** A notification as its sender sent it: the input of routing. */
export interface RoutingSubject extends OptionalTexts {
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly rank: number;
  /** Milliseconds, null when the sender named none. */
  readonly ttl: number | null;
  readonly sourceIp: string;
  readonly tokenId: string;
  readonly tokenName: string;
  /** As in {@link Route}: the part of Belfry that sent it in the place of the token. */
  readonly origin?: string | undefined;
}

export type AddressField = 'ip' | 'sourceIp';
export type TextField = 'title' | 'message' | PatternFieldName;

export type FoldedLabel = readonly [name: string, value: string];

/** A subject with the forms of its fields that conditions compare; each is computed once, on first use. */
export class EvaluationContext {
  readonly subject: RoutingSubject;
  readonly #folded: Partial<Record<TextField, string | null>> = {};
  readonly #addresses: Record<AddressField, AddressKey | null | undefined> = {
    ip: undefined,
    sourceIp: undefined,
  };

  #labels: readonly FoldedLabel[] | undefined;
  #regexWork: number;

  /** `regexWork`: the work that regular expressions may spend on it. */
  constructor(subject: RoutingSubject, regexWork: number = regexWorkPerNotification) {
    this.subject = subject;
    this.#regexWork = regexWork;
  }

  /** Takes work from the budget before it is done. @throws `regexBudgetSpent` when there is less left. */
  spend(work: number): void {
    if (work > this.#regexWork) throw regexBudgetSpent;
    this.#regexWork -= work;
  }

  /** The case-folded text, null when it was not sent. */
  folded(field: TextField): string | null {
    const known = this.#folded[field];
    if (known !== undefined) return known;
    const text = this.subject[field];
    const folded = text === null ? null : foldCase(text);
    this.#folded[field] = folded;
    return folded;
  }

  /** The labels, with the case of names and values folded. */
  get labels(): readonly FoldedLabel[] {
    this.#labels ??= labelEntries(this.subject.labels).map(([name, value]) => [
      foldCase(name),
      foldCase(value),
    ]);
    return this.#labels;
  }

  /** The key of an address, null when it was not sent or is invalid. */
  address(field: AddressField): AddressKey | null {
    const known = this.#addresses[field];
    if (known !== undefined) return known;
    const text = this.subject[field];
    const key = (text === null ? undefined : findAddressKey(text)) ?? null;
    this.#addresses[field] = key;
    return key;
  }
}
