/** A security key in software: creates and uses passkeys like a browser (WebAuthn level 2, ES256). */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Json = Record<string, unknown>;

export interface AuthenticatorFlags {
  /** Whether the owner was verified, by a fingerprint or a PIN. */
  readonly userVerified?: boolean;
  /** The origin of the page, if it is not the correct one. */
  readonly origin?: string;
  /** Whether the page is inside a frame of another origin. */
  readonly crossOrigin?: boolean;
  /** The id of the account, if it is not the one that the passkey was created for; undefined leaves it out. */
  readonly userHandle?: string | undefined;
}

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #origin: string;
  readonly #rpId: string;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  #userHandle = '';
  #counter = 0;

  constructor(origin: string, rpId = new URL(origin).hostname) {
    this.#origin = origin;
    this.#rpId = rpId;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  /** The response of navigator.credentials.create() to the options. */
  create(
    options: Json,
    { userVerified = true, origin = this.#origin, crossOrigin = false }: AuthenticatorFlags = {},
  ): Json {
    this.#userHandle = Buffer.from((options.user as { id: string }).id, 'base64url').toString('utf8');
    const { x, y } = this.#publicKey.export({ format: 'jwk' });
    // COSE_Key: kty EC2, alg ES256, crv P-256, x, y.
    const coseKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x as string, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y as string, 'base64url'),
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, coseKey]);
    const authData = Buffer.concat([this.#authData(userVerified, 0x40), attested]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(authData.length);
    // {"fmt": "none", "attStmt": {}, "authData": bytes}
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
      Buffer.from([0x59]),
      length,
      authData,
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', options, { origin, crossOrigin }).toString(
        'base64url',
      ),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The response of navigator.credentials.get() to the options. */
  get(options: Json, flags: AuthenticatorFlags = {}): Json {
    const { userVerified = true, origin = this.#origin, crossOrigin = false } = flags;
    const userHandle = 'userHandle' in flags ? flags.userHandle : this.#userHandle;
    this.#counter += 1;
    const clientData = this.#clientData('webauthn.get', options, { origin, crossOrigin });
    const authData = this.#authData(userVerified, 0);
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      ...(userHandle !== undefined && { userHandle: Buffer.from(userHandle).toString('base64url') }),
    });
  }

  #authData(userVerified: boolean, more: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const flags = 0x01 | (userVerified ? 0x04 : 0) | more;
    return Buffer.concat([createHash('sha256').update(this.#rpId).digest(), Buffer.from([flags]), counter]);
  }

  #clientData(
    type: string,
    { challenge }: Json,
    page: { readonly origin: string; readonly crossOrigin: boolean },
  ): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, ...page }));
  }

  #credential(response: Json): Json {
    const id = this.id.toString('base64url');
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response,
    };
  }
}
