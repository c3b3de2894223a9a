import * as v from 'valibot'

/** Berth's own id of an account: `a` and eight hexadecimal digits, or `demo`. */
export const AccountId = v.pipe(v.string(), v.regex(/^(a[0-9a-f]{8}|demo)$/, 'not an account'))
export type AccountId = v.InferOutput<typeof AccountId>

/** The service's integer id of an instance. */
export const InstanceId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** The service's integer id of an offer. */
export const OfferId = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** Berth's own id of a rental: `r` and sixteen hexadecimal digits, also in the instance's label and environment. */
export const RentalId = v.pipe(v.string(), v.regex(/^r[0-9a-f]{16}$/, 'not a rental'))
/** The id of a limit: `g` and sixteen hexadecimal digits. */
export const LimitId = v.pipe(v.string(), v.regex(/^g[0-9a-f]{16}$/, 'not a limit'))
