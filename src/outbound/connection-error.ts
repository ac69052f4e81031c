/** Says in plain words why a connection failed: channels show the sentence to people. */

interface NodeError extends Error {
  /** A number where another library made the error. */
  readonly code?: unknown;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly errors?: readonly NodeError[];
}

/** An error of Node with a sentence for people, and the original as its cause; any other error is returned as it is. */
export function plainConnectionError(error: unknown): unknown {
  // One error for each address of a name.
  const known = ((error as NodeError).errors?.[0] ?? error) as NodeError;
  const sentence = sentenceOf(known);
  return sentence === undefined ? error : new Error(sentence, { cause: error });
}

function sentenceOf({ code, address, port, hostname, message }: NodeError): string | undefined {
  if (typeof code !== 'string') return undefined;
  const host = address?.includes(':') ? `[${address}]` : address;
  const target = host === undefined ? 'the receiver' : `${host}${port === undefined ? '' : `:${port}`}`;
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  switch (code) {
    case 'ECONNREFUSED':
      return `${target} refused the connection`;
    case 'ETIMEDOUT':
      return `${target} did not answer`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${target} cannot be reached: there is no route to it`;
    case 'ENOTFOUND':
      return `the name ${hostname} does not exist`;
    case 'EAI_AGAIN':
      return `the name ${hostname} cannot be resolved at the moment`;
    case 'ECONNRESET':
    case 'EPIPE':
      return message.includes('before secure TLS')
        ? 'the receiver closed the connection before TLS began'
        : 'the receiver closed the connection before it answered';
    case 'EPROTO':
      return message.includes('wrong version number')
        ? 'the receiver does not use TLS on this port'
        : 'TLS failed: the receiver and this server agree on no version or cipher';
    default:
      return certificateProblems[code] && `the receiver's certificate ${certificateProblems[code]}`;
  }
}

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
  SELF_SIGNED_CERT_IN_CHAIN: 'is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'is from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is from an authority that is not trusted here',
};
