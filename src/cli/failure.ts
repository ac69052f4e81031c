/** A command that could not do its work, for a reason that the person who called it can mend. */
export class Failure extends Error {
  /** 1: it failed; 2: it was called, or is configured, the wrong way. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'Failure';
    this.exitCode = exitCode;
  }
}
