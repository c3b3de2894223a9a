import { isRefusal } from '#core/instances/polling/poll.ts'
import { knownInstances } from '../stored-rentals.ts'
import { sentenceFor } from '../words.ts'
import { type Finding, findLost, isListWhole } from './find-lost.ts'
import {
  adoptInstance,
  askAgainAfter,
  destroySurplus,
  endRental,
  letUserSay,
  type RentalParts,
  sleep,
} from './outcomes.ts'

/** Milliseconds before each of the first searches for a lost instance; later ones come every `askAgainAfter`. */
const findAfter = [500, 1500, 3000, 5000]
/** Seconds of the account's time in which a new instance is listed; one that is not found by then was not created. */
const appearsWithin = 90
/** How often the service is asked for one rental at most. */
const mostAsked = 3

/** Polls the account until the instance of a lost answer is found, or has had enough time to appear. */
export async function searchForLost(
  parts: RentalParts,
  id: string,
  mayAskAgain: boolean,
): Promise<'ask' | 'done'> {
  const { context, rentals } = parts
  await rentals.update(id, { step: 'lost' })
  const from = context.now()
  const mayStillAppear = () => Math.abs(context.now() - from) < appearsWithin
  for (let tries = 0; tries < findAfter.length || mayStillAppear(); tries += 1) {
    await sleep(context, findAfter[tries] ?? askAgainAfter)
    const finding = await searchOnce(parts, id, tries === 0)
    if (!finding) return 'done'
    if ('unclear' in finding) {
      await letUserSay(parts, id, finding.unclear)
      return 'done'
    }
    if (finding.found !== undefined) {
      await adoptInstance(parts, id, finding.found, finding)
      await destroySurplus(context, finding.surplus, rentals.get(id))
      return 'done'
    }
  }
  const { unwanted, asked, problem } = rentals.get(id)
  if (unwanted) return 'done'
  if (mayAskAgain && asked < mostAsked) return 'ask'
  await endRental(parts, id, 'failed', problem ?? sentenceFor('not_created'))
  return 'done'
}

/** Searches one new and complete list, retrying until there is one; undefined when Berth ends. */
async function searchOnce(
  { context, rentals }: RentalParts,
  id: string,
  anew: boolean,
): Promise<Finding | undefined> {
  const { client, ending } = context
  while (!ending.aborted) {
    try {
      const list = await client().instances.list({ signal: ending, anew })
      if (ending.aborted) return undefined
      const taken = rentals.all().flatMap(other => (other.id === id ? [] : (other.instance ?? [])))
      const finding = findLost(rentals.get(id), list.instances, new Set(taken))
      const isFound = 'found' in finding && finding.found !== undefined
      // A list that may be incomplete proves nothing: asking again could rent it twice.
      if (isFound || isListWhole(list, rentals.get(id).before, knownInstances(context))) return finding
      await rentals.update(id, { problem: sentenceFor('list_uncertain') })
    } catch (error) {
      if (isRefusal(error)) throw error
    }
    await sleep(context, askAgainAfter)
  }
  return undefined
}
