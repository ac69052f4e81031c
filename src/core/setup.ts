import { hashSecret, randomSecret, secretMatches } from './secrets.ts';

/** The one-time secret with which the first account is made. It lives in memory alone, and dies with its use. */
export class InitialSetup {
  #secret: string | undefined;

  /** Makes the secret, and answers it: for a server that has no account yet. */
  open(): string {
    this.#secret = randomSecret();
    return this.#secret;
  }

  /** In constant time; false when there is nothing to set up. */
  matches(secret: string): boolean {
    return this.#secret !== undefined && secretMatches(hashSecret(this.#secret), secret);
  }

  /** There is an account now. */
  close(): void {
    this.#secret = undefined;
  }
}
