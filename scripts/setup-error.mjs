/** A set-up that cannot go on: what is wrong, and what the reader can do about it. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} wayOut
   * @param {number} exitCode
   */
  constructor(message, wayOut, exitCode = 1) {
    super(message);
    this.wayOut = wayOut;
    this.exitCode = exitCode;
  }
}
