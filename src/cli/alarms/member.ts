import type { Static } from 'typebox';
import type { Member, MemberList } from '#contract/people/member.ts';
import { Failure } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';

/** How many people an error names. */
const maxNamed = 10;

/**
 * The member of the tenant with this mail address, name or id; capitals do not matter.
 *
 * @throws Failure when there is none, or when several have the name.
 */
export async function getMember(server: ServerClient, wanted: string): Promise<Member> {
  const { members } = await server.ask((_, request) =>
    request<Static<typeof MemberList>>('GET', '/api/members'),
  );
  const text = wanted.trim().toLowerCase();
  const [byAddress] = members.filter(({ id, email }) => id === text || email.toLowerCase() === text);
  const byName = members.filter(({ name }) => name.toLowerCase() === text);
  const found = byAddress ?? byName[0];
  const shown = visibleText(wanted);
  if (byAddress === undefined && byName.length > 1)
    throw new Failure(`several members are called "${shown}", so give the mail address: ${named(byName)}`, 2);
  if (found) return found;
  const similar = members.filter(
    ({ name, email }) => text !== '' && `${name} ${email}`.toLowerCase().includes(text),
  );
  throw new Failure(
    members.length === 0
      ? `nobody is a member of this tenant: invite "${shown}" in the dashboard first`
      : `no member of this tenant has the name or mail address "${shown}"; ${
          similar.length > 0 ? 'did you mean' : 'its members are'
        } ${named(similar.length > 0 ? similar : members)}`,
    2,
  );
}

function named(members: readonly Member[]): string {
  const texts = members.slice(0, maxNamed).map(({ name, email }) => visibleText(`${name} <${email}>`));
  return [...texts, ...(members.length > maxNamed ? [`${members.length - maxNamed} more`] : [])].join(', ');
}
