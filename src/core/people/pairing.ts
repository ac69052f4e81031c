/** Pairing: a screen shows a code, a person approves it, and the screen collects a token for its one panel. */
import { limits } from '#contract/limits.ts';
import { AppError, conflict, requireFound, unavailable } from '../errors.ts';
import type { TenantId } from '../log/route.ts';
import type { Directory, PanelRecord } from '../tenants/directory.ts';
import { actorOf, type Principal } from './access.ts';
import { newPanelToken } from './credentials.ts';
import { hashSecret, randomSecret, randomText } from './secrets.ts';

export const pairingMs = 10 * 60_000;

/** No characters that look alike, and no vowels, so that no code is a word. */
const codeAlphabet = '2346789BCDFGHJKMNPQRTVWXYZ';
const codeChars = 6;
const codeAttempts = 5;

type PairingDirectory = Pick<Directory, 'pairings' | 'panels' | 'credentials'>;

export interface OpenedPairing {
  readonly code: string;
  /** The screen collects its token with this secret. */
  readonly secret: string;
  readonly expiresAt: number;
}

export type CollectedPairing =
  | { readonly state: 'waiting' | 'collected'; readonly expiresAt: number }
  | {
      readonly state: 'approved';
      readonly expiresAt: number;
      readonly token: string;
      readonly panel: PanelRecord;
      readonly tenant: TenantId;
    };

/** Who approves, and the panel: an id, or a name to find or create. */
export interface Approval {
  readonly by: Principal;
  readonly panel: string | Parameters<Directory['panels']['register']>[1];
}

export async function openPairing({ pairings }: PairingDirectory, now: number): Promise<OpenedPairing> {
  const secret = randomSecret();
  const expiresAt = now + pairingMs;
  for (let attempt = 0; attempt < codeAttempts; attempt++) {
    const code = randomText(codeAlphabet, codeChars);
    if (await pairings.open({ code, secretHash: hashSecret(secret), createdAt: now, expiresAt }))
      return { code, secret, expiresAt };
  }
  throw unavailable('no free code was found: try again');
}

/**
 * Polled by the screen. The first call after the approval gets the token; later calls do not.
 * @param looks only reads the state: an approved pairing counts as waiting, and its token stays uncollected.
 * @throws AppError `not-found` for an unknown secret, `gone` when the code expired or its panel was deleted.
 */
export async function collectPairing(
  directory: PairingDirectory,
  secret: string,
  now: number,
  { looks = false } = {},
): Promise<CollectedPairing> {
  const { pairings, panels, credentials } = directory;
  const secretHash = hashSecret(secret);
  const pairing = requireFound(await pairings.findBySecret(secretHash), 'pairing');
  const { tenant, panelId, expiresAt, approvedBy } = pairing;
  if (pairing.collectedAt !== null) return { state: 'collected', expiresAt };
  if (expiresAt <= now) throw new AppError('gone', 'the code has expired: ask for a new one');
  if (tenant === null) return { state: 'waiting', expiresAt };
  const panel = panelId === null ? undefined : await panels.find(tenant, panelId);
  if (!panel) throw new AppError('gone', 'the panel of this code was deleted: ask for a new code');
  if (looks) return { state: 'waiting', expiresAt };
  // Marked first: a crash here costs a new code, but never gives a token to two screens.
  if (!(await pairings.collect(secretHash, now))) return { state: 'collected', expiresAt };
  const { record, text } = newPanelToken(tenant, panel, approvedBy ?? 'pairing', now);
  await credentials.add(record);
  return { state: 'approved', expiresAt, token: text, panel, tenant };
}

/**
 * Binds the screen that shows `code` to a panel. A wrong code creates no panel. A panel that was created for a code that another
 * caller approved first is deleted again.
 * @throws AppError `pairing.unknown-code` for a code or panel that does not exist, `conflict` when there are too many panels.
 */
export async function approvePairing(
  { pairings, panels }: PairingDirectory,
  code: string,
  { by: approver, panel }: Approval,
  now: number,
): Promise<string> {
  const { tenant } = approver;
  const by = actorOf(approver);
  if (!(await pairings.isWaiting(normalCode(code), now))) throw unknownCode();
  const registered = typeof panel === 'string' ? undefined : await panels.register(tenant, panel, by, now);
  const id = typeof panel === 'string' ? panel : registered?.panel.id;
  if (id === undefined) throw tooManyPanels();
  if (await pairings.approve(normalCode(code), tenant, id, by, now, approver)) return id;
  if (registered?.created) await panels.remove(tenant, id, by, now);
  throw unknownCode();
}

const unknownCode = () =>
  new AppError(
    'pairing.unknown-code',
    'no screen is waiting with this code: read it again, or let the screen show a new one',
  );

export const tooManyPanels = () =>
  conflict(`there are ${limits.panelsPerTenant} panels already: delete some first`);

/** Normalizes a typed code: lower case, spaces and dashes are accepted. */
function normalCode(code: string): string {
  return code.toUpperCase().replace(/[\s-]/g, '');
}
