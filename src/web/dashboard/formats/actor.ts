/** The API names who changed something: "key deploy", "token ci", or a person. These are the words of the reader's language. */
import i18next from 'i18next';

const kinds = ['key', 'token'] as const;
/** Without a name of its own: Belfry itself, and its command line. */
const own = ['cli', 'live-limit', 'retention'] as const;

export function actorText(actor: string): string {
  const itself = own.find((each) => each === actor);
  if (itself) return i18next.t(`actor.${itself}`);
  const kind = kinds.find((each) => actor.startsWith(`${each} `));
  return kind === undefined ? actor : i18next.t(`actor.${kind}`, { name: actor.slice(kind.length + 1) });
}

/** The API's name for what {@link actorText} shows. */
export function actorFrom(text: string): string {
  const itself = own.find((each) => text === i18next.t(`actor.${each}`));
  if (itself) return itself;
  for (const kind of kinds) {
    const start = i18next.t(`actor.${kind}`, { name: '' });
    if (text.startsWith(start)) return `${kind} ${text.slice(start.length)}`;
  }
  return text;
}
