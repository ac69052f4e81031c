/** The buttons of notifications on phones and devices: what somebody may do there about an alarm without signing in. */

export const buttons = ['acknowledge', 'shelve'] as const;
export type Button = (typeof buttons)[number];

/** Which buttons there are, the usual first. `shelve`: both. */
export const buttonSettings = ['acknowledge', 'shelve', 'none'] as const;
export type ButtonSetting = (typeof buttonSettings)[number];

/** How long the button shelves an alarm. */
export const buttonShelfMs = 3_600_000;

export function buttonsOf(setting: string = buttonSettings[0]): readonly Button[] {
  if (setting === 'none') return [];
  return setting === 'shelve' ? buttons : ['acknowledge'];
}
