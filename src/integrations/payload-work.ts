import { badRequest } from '#core/errors.ts';

/** A large webhook has a million characters; a mapping may read some of them more than once. */
const mostCharacters = 8 * 1024 * 1024;
/** The work that one token of the rate limit pays for: as much as a small webhook has. */
const charactersOfToken = 64 * 1024;

/** Counts the characters that a payload makes the server read, so that a small payload cannot cause much work. */
export class PayloadWork {
  #characters: number;
  #isPaid = false;

  /** `characters`: of the body itself. */
  constructor(characters: number) {
    this.#characters = characters;
  }

  /** The payload was stored in part, and is sent again for the rest: it was paid for at the first time. */
  forgive(): void {
    this.#isPaid = true;
  }

  /** @throws AppError `bad-request` once the payload is too expensive. */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters > mostCharacters)
      throw badRequest(
        `the mapping reads more than ${mostCharacters} characters of this payload: send fewer items at once`,
      );
  }

  /** The tokens of the rate limit that it costs beside the one of each notification. */
  get extraTokens(): number {
    return this.#isPaid ? 0 : Math.floor(this.#characters / charactersOfToken);
  }
}
