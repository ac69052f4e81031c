import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { component, patch } from '../schema.ts';
import { levelIcons, levelSounds } from './level-styles.ts';

export const LevelName = Type.String({
  pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$',
  errorMessage: 'must be 1 to 32 of a-z, 0-9, "_", "." and "-", starting with a letter or digit',
  description: 'Lower case letters, digits, "_", "." and "-", at most 32, starting with a letter or digit.',
});

const style = {
  rank: Type.Integer({
    minimum: 0,
    maximum: 1000,
    description: 'How serious; higher is more. info is 20, critical 50.',
  }),
  color: Type.String({
    pattern: '^#[0-9a-f]{6}$',
    errorMessage: 'must be a colour such as #c81e1e',
    description: 'Six lower-case hex digits, as in #58a6ff.',
  }),
  icon: Type.Enum([...levelIcons]),
  sound: Type.Enum([...levelSounds]),
  durationMs: Type.Integer({
    minimum: 0,
    maximum: 604_800_000,
    description: 'How long panels show a notification that names no ttl; 0 stays until cleared.',
  }),
};
const repeatMs = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 86_400_000,
    description:
      'Panels play the sound again after this time, but no sooner than after 5 s, until the notification is acknowledged or gone; 0 or absent: once.',
  }),
);

/** Of a level, and of a rule that matches. */
export const acknowledgeForMs = (description: string) =>
  Type.Optional(
    Type.Union(
      [Type.Literal(0), Type.Integer({ minimum: limits.acknowledgeMinMs, maximum: limits.shelfMs })],
      {
        errorMessage: `must be 0, or milliseconds from ${limits.acknowledgeMinMs} to ${limits.shelfMs}`,
        description,
      },
    ),
  );

const timed = {
  repeatMs,
  acknowledgeForMs: acknowledgeForMs(
    'An acknowledgement that names no time of its own ends by itself after these milliseconds: the alarm is open again. 0 or absent: it does not end.',
  ),
};

export const Level = component('Level', { name: LevelName, builtIn: Type.Boolean(), ...style, ...timed });
export type Level = Static<typeof Level>;

/** What PUT takes: omitted fields keep their value, or the look of info for a new level. */
export const LevelPut = patch('LevelPut', { ...style, ...timed });
export type LevelPut = Static<typeof LevelPut>;
