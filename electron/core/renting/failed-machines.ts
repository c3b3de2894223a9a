import * as v from 'valibot'
import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { openDocument } from '#core/storage/json-file.ts'
import { isDead } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { FailedMachineView } from '#shared/market/rental-view.ts'
import { noImageCode, sentenceFor } from './messages.ts'
import { deathOf } from './next-move.ts'
import { type Attempt, isRetrying, type RentalAttempt } from './rental.ts'

const FailedMachine = v.object({
  machineId: v.number(),
  hostId: v.optional(v.number()),
  times: v.number(),
  lastAt: v.number(),
  why: v.string(),
  /** The mark of the last attempt that failed there, and of earlier ones, so that each counts once. */
  mark: v.string(),
  earlier: v.optional(v.array(v.string())),
  /** The user forgave these failures. */
  forgiven: v.optional(v.boolean()),
})
type FailedMachine = v.InferOutput<typeof FailedMachine>

/** An attempt that failed on its machine. */
export interface Failure {
  mark: string
  offer: Attempt['offer']
  /** Epoch seconds of the account's time. */
  at: number
  why: string
}

export type FailedMachines = Awaited<ReturnType<typeof openFailedMachines>>

/** The number of machines remembered, without the oldest failures, and of attempts for each. */
const mostRemembered = 500
const mostAttempts = 20

/** The machines on which an account's rentals failed. `soonDown`: machines with announced maintenance. */
export async function openFailedMachines(
  context: Pick<AccountContext, 'files' | 'folder' | 'platform' | 'onBroken'>,
  soonDown: () => ReadonlySet<number> = () => new Set(),
) {
  const document = await openDocument(context, 'failed-machines', v.array(FailedMachine), [])
  const view = (): Record<string, FailedMachineView> =>
    Object.fromEntries(
      document
        .get()
        .filter(({ forgiven }) => !forgiven)
        .map(({ mark: _, earlier: __, ...host }) => [host.machineId, host]),
    )

  return {
    /** Remembers the machine. A repeated call for the same try changes nothing, even once it was forgiven. */
    async blame({ mark, offer, at, why }: Failure): Promise<void> {
      const { machineId, hostId } = offer
      if (machineId === undefined) return
      const known = document.get().find(host => host.machineId === machineId)
      const earlier = known ? [...(known.earlier ?? []), known.mark].slice(-mostAttempts) : []
      if (earlier.includes(mark)) return
      const failed: FailedMachine = {
        machineId,
        hostId,
        times: (known && !known.forgiven ? known.times : 0) + 1,
        lastAt: at,
        why,
        mark,
        earlier: earlier.length > 0 ? earlier : undefined,
      }
      await document.record(hosts =>
        [...hosts.filter(host => host.machineId !== machineId), failed].slice(-mostRemembered),
      )
    },
    forgive: (machine: number): Promise<void> =>
      document.record(hosts =>
        hosts.map(host => (host.machineId === machine ? { ...host, forgiven: true } : host)),
      ),
    view,
    /** Those and the ones that are soon down: others are rented first. */
    avoided(): Record<string, FailedMachineView> {
      const down = [...soonDown()].map(machineId => [
        machineId,
        { machineId, times: 1, lastAt: 0, why: 'Its host has announced maintenance.' },
      ])
      return { ...Object.fromEntries(down), ...view() }
    },
    flush: document.flush,
  }
}

/** Seconds: an instance that dies this soon after it began to run counts against its host. */
const soon = 3600

/**
 * Why an attempt's failure counts against its machine: it never ran, or died on its own within an hour of running. Undefined
 * if the user stopped it, it was outbid, or Berth did not see it.
 */
export function hostFailure(
  { step, problem }: Pick<Attempt, 'step' | 'problem'>,
  instance: InstanceView | undefined,
): string | undefined {
  if (step === 'late') return problem?.code === 'no_gpu' ? undefined : problem?.message
  if (!instance || !isDead(instance) || instance.intendedStatus === 'stopped') return undefined
  const { history, state } = instance
  if (deathOf(instance) === noImageCode) return undefined
  // An exit that may be temporary can be the first sign of a crash.
  const lived = history.findLastIndex(change => change.state !== 'exited' && !hasTrait(change.state, 'dead'))
  const before = history[lived]
  const diedAt = history[lived + 1]?.at
  if (!before || diedAt === undefined) return undefined
  if (before.state === 'running') return diedAt - before.at <= soon ? afterRunning[state] : undefined
  const neverRan = hasTrait(before.state, 'booting') && !history.some(change => change.state === 'running')
  return neverRan ? sentenceFor(state).message : undefined
}

/** Remembers the machines of attempts that failed at a poll. A rental with retries judges its own while it tries. */
export async function blameHosts(
  attempts: readonly RentalAttempt[],
  hosts: Pick<FailedMachines, 'blame'>,
  { account, at }: AccountPoll,
): Promise<void> {
  for (const attempt of attempts) {
    const { mark, offer, instance, unwanted, rental } = attempt
    if (unwanted || instance === undefined || (isRetrying(rental) && rental.step === 'trying')) continue
    const why = hostFailure(attempt, account.instances[instance])
    if (why !== undefined) await hosts.blame({ mark, offer, at, why })
  }
}

const afterRunning: Readonly<Partial<Record<InstanceView['state'], string>>> = {
  crashed: 'The container crashed within an hour of running.',
  silent: 'The host stopped sending a heartbeat within an hour.',
  offline: 'The host went offline within an hour of running.',
}
