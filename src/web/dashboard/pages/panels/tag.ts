/** As the server wants a tag. */
const pattern = /^[a-z0-9][a-z0-9_.-]{0,31}$/;

export const isTag = (text: string): boolean => pattern.test(text);

/** Tags that panels have, each once. */
export function knownTags(panels: readonly { readonly tags: readonly string[] }[]): string[] {
  return [...new Set(panels.flatMap(({ tags }) => tags))].sort();
}
