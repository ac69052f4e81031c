import { badRequest } from '#core/errors.ts';

const word = String.raw`=\?([A-Za-z0-9_.:-]{1,40})(?:\*[A-Za-z0-9-]{1,20})?\?([BbQq])\?([!->@-~]*)\?=`;
/** Includes the white space after the word if another encoded word follows. */
const encodedWord = new RegExp(`${word}(?:[ \\t]+(?=${word}))?`, 'g');

/**
 * Decodes RFC 2047 encoded words (`=?utf-8?B?…?=`, `=?iso-8859-1?Q?…?=`); white space between two of them is dropped.
 * Text that only looks like one stays as it is.
 *
 * @throws AppError `bad-request` when the charset is unknown, or the bytes are not valid in it.
 */
export function decodeEncodedWords(value: string, header: string): string {
  return value.replace(encodedWord, (_, charset: string, encoding: string, text: string) =>
    decode(charset, encoding.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : quotedBytes(text), header),
  );
}

function quotedBytes(text: string): Buffer {
  const binary = text
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(binary, 'latin1');
}

function decode(charset: string, bytes: Buffer, header: string): string {
  const problem = `the header ${header} has an encoded word`;
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw badRequest(`${problem} in the unknown charset ${charset}: write it in utf-8`);
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest(`${problem} whose bytes are not valid ${charset}`);
  }
}
