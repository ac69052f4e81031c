/** Senders that sign payloads: the path contains the token's id, and the token's signing secret signs the body. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unauthorized } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import { isSigned } from '#core/intake/webhook-signatures.ts';
import type { Authenticator } from '../callers/auth.ts';
import type { Services } from '../services.ts';

export class SignedSenders {
  readonly #services: Services;
  readonly #authenticator: Authenticator;
  /** The claimed sender of a request, until its signature is verified. */
  readonly #claimed = new WeakMap<FastifyRequest, Sender>();

  constructor(services: Services, authenticator: Authenticator) {
    this.#services = services;
    this.#authenticator = authenticator;
  }

  /** Before the body is read. @throws AppError `unauthorized` when no signature could be right. */
  async find(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // A missing signature is no failed attempt, like a missing token.
    if (!isSigned(request.headers)) throw unauthorized();
    const { tokenId = '' } = request.params as { tokenId?: string };
    const sender = await this.#authenticator.findSender(tokenId, request.sourceIp);
    if (!sender) throw this.#authenticator.refuse(request.sourceIp, reply);
    this.#claimed.set(request, sender);
  }

  /** Makes the sender the principal of the request. @throws AppError `unauthorized` or `forbidden`. */
  async verify(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { signatures, usage, now } = this.#services;
    const sender = this.#claimed.get(request);
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    if (!sender) throw this.#authenticator.refuse(request.sourceIp, reply);
    if (!signatures.matches(sender.id, request.headers, body, now()))
      throw this.#authenticator.refuseSigner(sender.id, request.sourceIp, reply);
    this.#authenticator.proveSigner(sender.id, request.sourceIp);
    // The body may have come long after the sender was found.
    const { sourceIp } = request;
    const refusal = await this.#authenticator.refusalOf({ scope: 'notify' }, { principal: sender, sourceIp });
    if (refusal) throw refusal;
    usage.recordUse({ tenant: sender.tenant, id: sender.id, at: now(), from: sourceIp });
    request.principal = sender;
  }
}
