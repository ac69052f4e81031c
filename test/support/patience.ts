/** How long tests wait, in ms, for what is meant to come at once: as long as a machine takes that is several times as slow as usual. */
export const patienceMs = 15_000;
