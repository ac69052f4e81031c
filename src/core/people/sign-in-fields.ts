/** What a person signs in with: the canonical form of an email address, and which passwords are too easy to guess. */
import { badRequest } from '../errors.ts';

/** The form that every mail server accepts. Non-ASCII letters are excluded, because similar ones could be two people. */
const form = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** The canonical form of an address, in which it is stored and compared; undefined when it is invalid. */
export function findEmail(text: string): string | undefined {
  const email = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return email.length <= 254 && form.test(email) ? email : undefined;
}

/** @throws AppError `bad-request` for an invalid address. */
export function readEmail(text: string): string {
  const email = findEmail(text);
  if (email === undefined)
    throw badRequest(
      "email must be an email address in plain letters, digits and . _ - + ', as in anna@example.org",
    );
  return email;
}

/** Rejects passwords that are easy to guess. */

/** The list is short: {@link passwordProblem} also finds each word repeated, with digits and symbols around it, and in leet. */
const common =
  `password passwort passw0rd welcome willkommen changeme letmein qwerty qwertz azerty qwertyuiop qwertzuiop
  asdfghjkl zxcvbnm yxcvbnm iloveyou ichliebedich monkey dragon master sunshine princess football fussball baseball
  basketball superman batman spiderman trustno1 starwars pokemon michael jennifer jordan charlie computer internet
  whatever freedom secret geheim default administrator admin root login guest test testing demo user example sample
  service server system network monitor monitoring database backup belfry notification notifications dashboard
  summer winter spring autumn sommer herbst monday friday january december hello hallo god love money shadow killer
  correcthorsebatterystaple abcdefghij abcdefgh unknown anonymous company temporary temppassword mypassword
  newpassword oldpassword password1234 nothing blink182 liverpool arsenal chelsea barcelona juventus schalke`.split(
    /\s+/,
  );
const runs = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  '1qaz2wsx3edc4rfv5tgb6zhn7ujm8ik9ol0p',
  '1q2w3e4r5t6y7u8i9o0p',
];
const leet: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/**
 * Why a password is refused, as in "is one of the most common ones: …"; undefined if it is accepted. `personal`: name and email
 * address, which are easy to guess.
 */
export function passwordProblem(password: string, personal: readonly string[]): string | undefined {
  if (password.length < 10) return 'is too short: take at least 10 characters';
  if (password.length > 256) return 'is too long: take at most 256 characters';
  const text = password.normalize('NFKC').toLowerCase();
  if (new Set(text).size < 4)
    return 'repeats a few characters: take several words that do not belong together';
  if (isRun(text)) return 'is a row of keys or digits: take several words that do not belong together';
  const plain = [text, core(text)].flatMap((each) => [each, unleet(each)]);
  const cores = plain.flatMap((each) => [each, core(each), unit(each), unit(core(each))]);
  if (cores.some((each) => each === '' || common.includes(each)))
    return 'is one of the most common ones: take several words that do not belong together';
  if (personal.flatMap(partsOf).some((part) => cores.includes(part) || cores.includes(unleet(part))))
    return 'is made of your name or email address: take several words that do not belong together';
  return undefined;
}

/** The text without digits and symbols at both ends, as in "Winter2026!". */
function core(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
}

/** The part that a text repeats, as "abc" in "abcabcabc"; otherwise the text itself. */
function unit(text: string): string {
  return /^(.+?)\1+$/su.exec(text)?.[1] ?? text;
}

function unleet(text: string): string {
  return [...text].map((char) => leet[char] ?? char).join('');
}

function isRun(text: string): boolean {
  const piece = unit(text);
  return runs.some(
    (run) => piece.length > 2 && (run.includes(piece) || [...run].reverse().join('').includes(piece)),
  );
}

function partsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase();
  const words = plain.split(/[^\p{L}\p{N}]+/u);
  return [plain, words.join(''), ...words].filter((part) => part.length > 2);
}
