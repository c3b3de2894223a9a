import type { Look } from './look.ts'

/**
 * Looks, and once more at once where the answer lacks one of `expected`: a proxy's hiccup can look like an account
 * without instances. Of those, what either answer has is there; where the second look comes to nothing, so does all.
 */
export async function lookForAll(
  look: () => Promise<Look>,
  expected: () => readonly number[],
): Promise<Look> {
  const first = await look()
  if (first.outcome !== 'seen' || !first.instances) return first
  if (missing(expected(), first.instances).size === 0) return first
  const second = await look()
  if (second.outcome !== 'seen' || !second.instances) return second
  const lacked = missing(expected(), second.instances)
  const seenBefore = first.instances.filter(({ id }) => lacked.has(id))
  if (seenBefore.length === 0) return second
  return { ...second, instances: [...second.instances, ...seenBefore] }
}

function missing(expected: readonly number[], there: readonly { id: number }[]): Set<number> {
  const lacked = new Set(expected)
  for (const { id } of there) lacked.delete(id)
  return lacked
}
