/** The panels that routing chose: everyone, or those named by id or carrying one of the tags. Nothing at all: none. */
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

/** Whether routing chose this panel. Tags are looked at as they are now, so a new screen of a group shows what the group shows. */
export function reaches(target: Target, panel: PanelAddress): boolean {
  return (
    target.all ||
    target.ids.includes(panel.id) ||
    (target.tags.length > 0 && target.tags.some((tag) => panel.tags.includes(tag)))
  );
}

/** Whatever either of them reaches. */
export function unite(a: Target, b: Target): Target {
  if (a.all || b.all) return everyPanel;
  const ids = [...new Set([...a.ids, ...b.ids])];
  return { all: false, ids, tags: [...new Set([...a.tags, ...b.tags])] };
}

export function isEmpty(target: Target): boolean {
  return !target.all && target.ids.length === 0 && target.tags.length === 0;
}
