/** Looks in a row without an instance until it counts as gone: a look may have begun before it was there. */
export const pollsUntilGone = 2
