/** Percent of load: below, a GPU computes nothing that could be lost. */
export const idleBelow = 5
