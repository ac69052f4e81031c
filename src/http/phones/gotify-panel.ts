/** The panel that a client of Gotify stands for. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { notFound } from '#core/errors.ts';
import { actorOf, type Principal } from '#core/people/access.ts';
import { newToken } from '#core/people/credentials.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import { findByTopic, signedInTopic } from '#core/tenants/topics.ts';
import type { PersonPrincipal } from '../callers/people.ts';
import type { Services } from '../services.ts';
import { registerPhone } from './phones.ts';

/** Only tokens: an app stores the credential with which it reads, and no key or password should stay on a phone. */
export const ofPhones = {
  senderCredential: true,
  urlToken: 'of every token',
  rateLimit: 'by panel',
} as const;

/** A whole number, which comes as text. */
export const wholeText = (description?: string) =>
  Type.String({ ...(description && { description }), describedAs: { type: 'integer', minimum: 0 } });
export const NumberPath = Type.Object({ id: wholeText() });

export const boundTo = (principal: Principal) => (principal.kind === 'token' ? principal.panelId : null);

/** The topic of the panel of a token that is bound to none. */
const topicOf = ({ id }: Principal) => `gotify-${id}`;

/** The panel of the calling token: it has one, as an app of Gotify names none. */
export async function findPanel(
  { tenancy }: Services,
  { principal }: FastifyRequest,
): Promise<PanelRecord | undefined> {
  const bound = boundTo(principal);
  const find = async () => {
    const { panels } = await tenancy.get(principal.tenant);
    return bound === null ? findByTopic(panels, topicOf(principal)) : panels.get(bound);
  };
  return (await find()) ?? (await tenancy.poll().then(find));
}

/** A client that reads without signing in has the name of its token. */
export async function register(
  services: Services,
  request: FastifyRequest,
  name = request.principal.name,
): Promise<PanelRecord> {
  const { principal } = request;
  if (boundTo(principal) !== null) throw notFound('panel');
  return registerPhone(services, principal, { name, topic: topicOf(principal) }, () =>
    findPanel(services, request),
  );
}

/** A panel and a new token for it alone. A person who gives the same name again gets the same panel. */
export async function addPhone(
  services: Services,
  admin: PersonPrincipal,
  name: string,
): Promise<{ readonly panel: PanelRecord; readonly token: string }> {
  const { directory, tenancy, now } = services;
  const { tenant, id: person } = admin;
  const topic = signedInTopic(person, name);
  const find = async () => findByTopic((await tenancy.get(tenant)).panels, topic);
  const panel =
    (await find()) ??
    (await tenancy.poll().then(find)) ??
    (await registerPhone(services, admin, { name, topic }, () => tenancy.poll().then(find)));
  const wanted = { name: panel.name, scopes: ['panel' as const], panelId: panel.id };
  const { record, text } = newToken(tenant, wanted, actorOf(admin), now());
  await directory.credentials.add(record, admin);
  return { panel, token: text };
}
