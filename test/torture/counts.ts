/** How often each torture is repeated. TORTURE_CYCLES=1000 is the full form; everything grows in proportion. */
const shortForm = { kills: 25, drains: 10, answers: 500 };

const factor = Number(process.env.TORTURE_CYCLES ?? shortForm.kills) / shortForm.kills;
if (!(factor > 0))
  throw new Error(`TORTURE_CYCLES is ${process.env.TORTURE_CYCLES}: set it to a number such as 1000`);

const times = (count: number) => Math.ceil(count * factor);

/** Processes killed under load. */
export const kills = times(shortForm.kills);
/** Servers told to stop under load. */
export const drains = times(shortForm.drains);
/** Answers watched for the fsync before them. */
export const answers = times(shortForm.answers);

/** A time limit of a test that takes `ms` in the short form. */
export const timeLimit = (ms: number) => Math.max(ms, ms * factor);
