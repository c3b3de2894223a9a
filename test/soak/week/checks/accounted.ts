import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { rentalOf } from '../../../../electron/core/instances/mark.ts'
import { AttemptSeries } from '../../../../electron/core/renting/attempts/model.ts'
import { Rental } from '../../../../electron/core/renting/rentals/model.ts'
import type { ServiceInstance } from '../elsewhere.ts'

/** What Berth remembers of rentals and attempts, as it is on disk. */
export interface RentalRecords {
  rentals: readonly Rental[]
  attempts: readonly AttemptSeries[]
}

export async function recordsOnDisk(folder: string): Promise<RentalRecords> {
  const accounts = join(folder, 'berth', 'accounts')
  const [account = ''] = await readdir(accounts).catch(() => [])
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(accounts, account, name), 'utf8').catch(() => '[]'))
  return {
    rentals: v.parse(v.array(Rental), await read('rentals.json')),
    attempts: v.parse(v.array(AttemptSeries), await read('attempts.json')),
  }
}

/** What an instance was created for: a series of attempts, or a rental without one. */
export function ownerOf(
  { label, extra_env }: ServiceInstance,
  { rentals }: RentalRecords,
): string | undefined {
  const mark = rentalOf(label, extra_env)
  return rentals.find(({ id }) => id === mark)?.owner ?? mark
}

/** Two instances of one owner, by owner. */
export function doubles(
  instances: readonly ServiceInstance[],
  records: RentalRecords,
): Map<string, number[]> {
  const byOwner = new Map<string, number[]>()
  for (const instance of instances) {
    const owner = ownerOf(instance, records)
    if (owner !== undefined) byOwner.set(owner, [...(byOwner.get(owner) ?? []), instance.id])
  }
  return new Map([...byOwner].filter(([, ids]) => ids.length > 1))
}

/** The instances that rentals have. */
export function claimed({ rentals }: RentalRecords): number[] {
  return rentals.flatMap(({ instance }) => (instance === undefined ? [] : [instance]))
}

/** Instances that no rental has or is still after, with why. */
export function unclaimed(
  instances: readonly ServiceInstance[],
  { rentals }: RentalRecords,
): Map<number, string> {
  const found = new Map<number, string>()
  for (const { id, label, extra_env } of instances) {
    const mark = rentalOf(label, extra_env)
    const rental = rentals.find(one => one.id === mark)
    if (rental?.instance === id || (rental && mayStillFind(rental))) continue
    const why = rental ? `${rental.step} with ${rental.instance ?? 'none'}` : 'forgotten'
    found.set(id, `is nobody's, since its rental ${mark ?? 'without a mark'} is ${why}`)
  }
  return found
}

function mayStillFind({ step, instance }: Rental): boolean {
  return instance === undefined && (step === 'asking' || step === 'lost' || step === 'unclear')
}

/** Instances that nobody wants, with why: all rentals have ended. */
export function orphans(
  instances: readonly ServiceInstance[],
  records: RentalRecords,
  byHand: ReadonlySet<number>,
): string[] {
  return instances.flatMap(instance => {
    const why = byHand.has(instance.id) ? undefined : unwanted(instance, records)
    return why === undefined ? [] : [`#${instance.id} (${instance.actual_status}): ${why}`]
  })
}

function unwanted(instance: ServiceInstance, { rentals, attempts }: RentalRecords): string | undefined {
  const mark = rentalOf(instance.label, instance.extra_env)
  if (mark === undefined) return 'it has no mark'
  const rental = rentals.find(({ id }) => id === mark)
  if (!rental) return `its rental ${mark} is forgotten`
  if (rental.instance !== instance.id)
    return `its rental ${mark} (${rental.step}) has ${rental.instance ?? 'none'}`
  if (rental.unwanted) return `its rental ${mark} is not wanted (${rental.step})`
  if (rental.owner === undefined) return undefined
  const attemptSeries = attempts.find(({ id }) => id === rental.owner)
  if (!attemptSeries) return undefined
  return attemptSeries.instance === instance.id
    ? undefined
    : `its attemptSeries ${attemptSeries.id} ended as ${attemptSeries.step}`
}
