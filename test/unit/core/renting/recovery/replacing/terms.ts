/** Seconds: the floor between two replacements. */
export const every = 600
/** Dollars per hour. */
export const mostBid = 0.125
export const image = 'pytorch/pytorch'
export const template = 'a1b2'
export const secret = 'a secret'
