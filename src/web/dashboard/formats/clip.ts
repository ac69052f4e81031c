/** The beginning of a long text; it ends with an ellipsis, and never with half a character, which the server refuses. */
export const clip = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
