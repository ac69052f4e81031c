/** The panels that routing chose: all, or those with one of the ids or tags. If everything is empty: none. */
export interface Target {
  readonly all: boolean;
  readonly ids: readonly string[];
  readonly tags: readonly string[];
}

export interface PanelAddress {
  readonly id: string;
  readonly tags: readonly string[];
}

export const everyPanel: Target = { all: true, ids: [], tags: [] };
export const noPanel: Target = { all: false, ids: [], tags: [] };

/** Whether routing chose this panel. It uses the panel's current tags, so a new panel with a tag shows what the others show. */
export function reaches(target: Target, panel: PanelAddress): boolean {
  return (
    target.all ||
    target.ids.includes(panel.id) ||
    (target.tags.length > 0 && target.tags.some((tag) => panel.tags.includes(tag)))
  );
}

/** What each name takes in memory beside its characters, in bytes. */
const bytesBesideName = 24;

/** About how many bytes these names take in memory. */
export function namesSize(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + name.length + bytesBesideName, 0);
}

/** The union of two targets. */
export function unite(a: Target, b: Target): Target {
  if (a.all || b.all) return everyPanel;
  const ids = [...new Set([...a.ids, ...b.ids])];
  return { all: false, ids, tags: [...new Set([...a.tags, ...b.tags])] };
}

export function isEmpty(target: Target): boolean {
  return !target.all && target.ids.length === 0 && target.tags.length === 0;
}
