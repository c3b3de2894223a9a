import { isAbsent } from '#service/service-error.ts'

/** Seconds until a list that the service did not have is asked for again. */
const absentFor = 86_400

/** Until when (epoch seconds) a refused list is not asked for again; undefined if the service may have it. */
export function absentUntil(error: unknown, now: number): number | undefined {
  return isAbsent(error) ? now + absentFor : undefined
}
