/** What pictures are taken with. */
export interface Pictures {
  readonly browserPath: string;
  /** Where they are put; it is there. */
  readonly folder: string;
  /** Part of the names of those that are wanted. */
  readonly only: string;
}
