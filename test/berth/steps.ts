import { dirname } from 'node:path'
import type { Args } from '#contract/commands.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import type { RentalView } from '#shared/market/rental-view.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { storedFiles } from '#test/stored-files.ts'
import type { BerthUnderTest, World } from './world.ts'

/** A request for the cheapest offer on the market. */
export async function requestCheapest(
  { run }: BerthUnderTest,
  more: Partial<RentRequest> = {},
): Promise<RentRequest> {
  const type = more.bid === undefined ? 'on-demand' : 'bid'
  const { offers } = await run('searchOffers', {
    query: { type, verifiedOnly: false, storage: 20, limit: 50 },
  })
  const [offer] = offers
  if (!offer) throw new Error('the market is empty')
  return { offer: offer.id, image: 'pytorch/pytorch', access: 'ssh', disk: 20, env: [], ports: [], ...more }
}

/** Rents the cheapest offer; resolves with the rental's id. */
export async function rentCheapest(under: BerthUnderTest, more: Partial<RentRequest> = {}): Promise<string> {
  return under.run('rent', { request: await requestCheapest(under, more) })
}

/** Rents and waits until the instance runs. */
export async function rentRunning(
  under: BerthUnderTest,
  more: Partial<RentRequest> = {},
): Promise<InstanceView> {
  const [instance] = await rentSeveral(under, more)
  return instance
}

/** Rents one after the other, and waits until all of them run. */
export async function rentSeveral<Requests extends readonly Partial<RentRequest>[]>(
  under: BerthUnderTest,
  ...requests: Requests
): Promise<{ [At in keyof Requests]: InstanceView }> {
  const before = new Set(Object.keys(under.account().instances))
  const fresh = () => instancesOf(under).filter(({ id }) => !before.has(String(id)))
  for (const [index, more] of requests.entries()) {
    await rentCheapest(under, more)
    await under.until(() => fresh().length > index)
  }
  const running = () => fresh().filter(({ state }) => state === 'running')
  await under.until(() => running().length === requests.length)
  await under.until(() => rentalsOf(under).length === 0)
  // A poll has ended once its alerts are shown.
  await under.run('refresh', {})
  const instances = running()
  if (instances.length < requests.length) throw new Error('it stopped running at once')
  return instances as { [At in keyof Requests]: InstanceView }
}

/** Sets a limit, by default one that stops at its moment, also where that was missed; resolves with its id. */
export function setLimit(
  { run }: BerthUnderTest,
  limit: Pick<Args<'setLimit'>, 'when'> & Partial<Args<'setLimit'>>,
): Promise<string> {
  return run('setLimit', { action: 'stop', warning: 0, missed: 'act', ...limit })
}

export function instancesOf(under: BerthUnderTest): InstanceView[] {
  return Object.values(under.account().instances)
}

export function rentalsOf(under: BerthUnderTest): RentalView[] {
  return Object.values(under.account().rentals)
}

/** The account's limits, or those on one instance, in the order in which they were set. */
export function limitsOf(under: BerthUnderTest, instance?: number): LimitView[] {
  const limits = Object.values(under.account().limits)
  return instance === undefined ? limits : limits.filter(limit => limit.instance === instance)
}

export function stateOf(under: BerthUnderTest, instance: number): InstanceState | undefined {
  return under.account().instances[instance]?.state
}

/** Whether it is stopped, or about to be. */
export function isHalted(under: BerthUnderTest, instance: number): boolean {
  return ['stopping', 'stopped'].includes(stateOf(under, instance) ?? '')
}

/** The requests that stop or start an instance. */
export function stops({ requests }: World, instance: number): unknown[] {
  return requests('PUT', new RegExp(`/instances/${instance}/$`))
}

/** How many requests asked for an instance. */
export function creates({ requests }: World): number {
  return requests('PUT', '/asks/').length
}

/** How many instances there ever were. */
export function everCreated({ sim }: World): number {
  return sim.controls.ledger().instances.length
}

/** The text of every file that Berth keeps, by name. */
export async function everyFile({ platform }: World): Promise<Map<string, string>> {
  const files = await storedFiles(dirname(platform.files.path('any')))
  return new Map([...files].map(([file, bytes]) => [file, bytes.toString('utf8')]))
}

/** The Problem of failing work. Throws if the work succeeds or fails without one. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    reason => reason,
  )
  if (error instanceof BerthError) return error.problem
  throw error ?? new Error('nothing was wrong')
}

/** The code of that Problem. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return (await problemOf(work)).code
}
