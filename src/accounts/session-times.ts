/** A session that is remembered lasts so long from its sign-in … */
export const rememberedMs = 30 * 24 * 3_600_000;
/** … and another so long from its last use. */
export const idleMs = 12 * 3_600_000;
/** So long after the sign-in, or another proof, a person is taken to be the same at the same machine. */
export const provenMs = 10 * 60_000;
/** The last use is written down no more often than this. */
export const touchMs = 60_000;
