import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { rentalOf } from '../../../../electron/core/instances/mark.ts'
import { AttemptSeries } from '../../../../electron/core/renting/attempts/model.ts'
import { Rental } from '../../../../electron/core/renting/rentals/model.ts'
import type { ServiceInstance } from '../elsewhere.ts'

/** Berth's rentals and attempts on disk. */
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

/** The id of the series of attempts for which an instance was created, or of its rental. */
export function ownerOf(
  { label, extra_env }: ServiceInstance,
  { rentals }: RentalRecords,
): string | undefined {
  const mark = rentalOf(label, extra_env)
  return rentals.find(({ id }) => id === mark)?.owner ?? mark
}

/** Owners with more than one instance, with the ids. */
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

/** The instances recorded by rentals. */
export function claimed({ rentals }: RentalRecords): number[] {
  return rentals.flatMap(({ instance }) => (instance === undefined ? [] : [instance]))
}

/** Instances that no rental has or still looks for, with the reason. */
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

/** Instances that should not exist now that all rentals have ended, with the reason. */
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
