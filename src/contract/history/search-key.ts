/** Apart from the fields, whose schemas the first page of the dashboard does not need. */

/** The key in lower case, by its own name if it was typed by another one: `state:open` is `is:open`. */
export const searchKeyName = (typed: string): string => {
  const name = typed.toLowerCase();
  return name === 'state' ? 'is' : name;
};
