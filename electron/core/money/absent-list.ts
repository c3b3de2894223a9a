import { isAbsent } from '../../service/service-error.ts'

/** Seconds until a list that was not there may be. */
const absentFor = 86_400

/** Until when a list is not asked for again, by how it was refused: undefined where it may be there. Epoch seconds. */
export function absentUntil(error: unknown, now: number): number | undefined {
  return isAbsent(error) ? now + absentFor : undefined
}
