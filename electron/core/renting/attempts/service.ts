import { BerthError } from '../../../contract/problem.ts'
import type { AccountContext, Automation } from '../../account-context.ts'
import type { StoredGuards } from '../../guards/stored-guards.ts'
import { openCollection } from '../../storage/collection.ts'
import { rentalSecrets, withoutSecrets } from '../rentals/secrets.ts'
import type { Rentals } from '../rentals/service.ts'
import { type Move, nextMove } from './decide.ts'
import { type FailedMachines, openFailedMachines } from './failed-machines.ts'
import { blameHosts } from './host-failure.ts'
import { Failover, openAttempt } from './model.ts'
import { type AttemptParts, closeAttempt, dropAttempt, endFailover, followAttempts } from './outcomes.ts'
import { createRentNext } from './rent-next.ts'
import { createSnapshots, type Instances } from './snapshots.ts'
import { notifyOfFailover } from './tell.ts'
import { failoverViews } from './view.ts'

/** What a failover is asked for. */
export type FailoverRequest = Pick<Failover, 'search' | 'request' | 'limits' | 'replaces'>

/**
 * The failovers of one account. Each tries one machine after another until one can be entered. A try is a rental, with
 * all that makes a rental happen exactly once; the failover decides what becomes of it, and has that on disk before it
 * acts. It decides on fresh answers alone.
 */
export interface Failovers extends Automation {
  readonly hosts: FailedMachines
  /**
   * Resolves with its id once it is on disk; it goes on by itself. An `id` that is known already begins nothing. `asked`:
   * by the user, rather than by what brings its own id.
   */
  start(wanted: FailoverRequest, id?: string, asked?: boolean): Promise<string>
  /**
   * Ends it at whatever step; what it has created is destroyed. `needless`: not the user does so, but what had begun it,
   * were it after the user. Throws `too_late` once it has ended otherwise.
   */
  cancel(id: string, needless?: boolean): Promise<void>
  dismiss(id: string): Promise<void>
  find(id: string): Failover | undefined
  /** All that are remembered, oldest first. */
  all(): readonly Failover[]
  /** Resolves once what has become of them is on disk, where that is possible. */
  written(): Promise<void>
  /** Forgets that a machine failed. */
  forgive(machine: number): Promise<void>
  /** Whether any is still to be done. */
  underWay(): boolean
}

/** Failovers remembered after their end. */
const mostEnded = 50

export async function openFailovers(
  context: AccountContext,
  rentals: Rentals,
  guards: Pick<StoredGuards, 'actedOn'>,
): Promise<Failovers> {
  const { ending, now } = context
  const secrets = rentalSecrets(context.keychain)
  const hosts = await openFailedMachines(context)
  let instances: Instances = {}
  const rentalOf = (id: string) => (rentals.knows(id) ? rentals.rented(id) : undefined)
  const failovers = await openCollection(context, {
    name: 'failovers',
    schema: Failover,
    key: ({ id }) => id,
    missing: { code: 'no_such_failover', message: 'That failover is no longer on the list.' },
    prune: { isOver: ({ step }) => step !== 'trying', most: mostEnded },
    view: all => ({
      failovers: failoverViews(all, rentalOf, instances),
      failedMachines: hosts.view(),
    }),
  })
  const { all, find, get, update } = failovers
  const parts: AttemptParts = { context, failovers, rentals, rentalOf, hosts, secrets }
  const rentNext = createRentNext(parts)
  const snapshots = createSnapshots(context, guards)
  /** Failovers this process is working on, so that no two loops do. */
  const busy = new Set<string>()
  const due = new Map<string, number>()

  /** Goes on until there is something to wait for; what is waited for shows at a fresh poll. */
  async function pursue(id: string): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    try {
      for (;;) {
        const failover = await followAttempts(parts, get(id), instances)
        if (failover.step !== 'trying' || ending.aborted) break
        const rental = rentalOf(openAttempt(failover)?.rental ?? '')
        const move = nextMove(failover, snapshots.of(failover, rental, instances))
        if (move.do === 'wait') {
          if (move.until === undefined) due.delete(id)
          else due.set(id, move.until)
          break
        }
        due.delete(id)
        if (!(await perform(failover, move))) break
      }
    } finally {
      busy.delete(id)
    }
  }

  /** Whether there is more to do at once. */
  async function perform(failover: Failover, move: Exclude<Move, { do: 'wait' }>): Promise<boolean> {
    const current = openAttempt(failover)
    switch (move.do) {
      case 'search':
        return rentNext(failover)
      case 'probeSsh':
        snapshots.probeSsh(failover, instances, () => void pursue(failover.id))
        return false
      case 'drop':
        await dropAttempt(parts, failover, { ...move.drop, at: now() })
        return true
      case 'take back':
        if (current) await rentals.discard(current.rental)
        return false
      case 'close':
        if (!current) return true
        snapshots.forget(current.rental)
        return closeAttempt(parts, failover, current)
      case 'end':
        await endFailover(parts, failover, move)
        return false
    }
  }

  failovers.show()
  return {
    async start(wanted, given, asked = given === undefined) {
      const id = given ?? `f${context.newId()}`
      if (find(id)) return id
      await secrets.keep(id, wanted.request)
      try {
        await failovers.add({
          ...wanted,
          id,
          request: withoutSecrets(wanted.request),
          step: 'trying',
          attempts: [],
          startedAt: now(),
        })
      } catch (error) {
        await secrets.forget({ id, request: wanted.request }).catch(() => undefined)
        throw error
      }
      notifyOfFailover(context, {
        failover: get(id),
        text: `Renting with failover: up to ${wanted.limits.attempts} attempts`,
        asked,
      })
      void pursue(id)
      return id
    },
    async cancel(id, needless = false) {
      const { step, unwanted } = get(id)
      if (step !== 'trying' && !(needless && step === 'cancelled')) throw new BerthError(tooLate)
      if (unwanted && !needless) return
      await update(id, { unwanted: true, needless })
      void pursue(id)
    },
    async dismiss(id) {
      if (get(id).step !== 'trying') await update(id, { dismissed: true })
    },
    find,
    all,
    written: failovers.flush,
    hosts,
    onPoll(poll) {
      instances = poll.account.instances
      const trying = all().filter(({ step }) => step === 'trying')
      for (const failover of trying) snapshots.onPoll(failover, poll)
      for (const { id } of trying) void pursue(id)
      void blameHosts(parts, poll)
      failovers.show()
    },
    // Whatever is under way goes on at the first fresh poll: rentals go on by themselves.
    resume: failovers.show,
    secretOwners: () => all().flatMap(({ id, step }) => (step === 'trying' ? id : [])),
    async forgive(machineId) {
      await hosts.forgive(machineId)
      failovers.show()
    },
    dueAt: after => Math.min(...[...due.values()].filter(moment => moment > after)),
    underWay: () => all().some(({ step }) => step === 'trying'),
    async flush() {
      await Promise.all([failovers.flush(), hosts.flush()])
    },
  }
}

const tooLate = {
  code: 'too_late',
  message: 'It has ended already, so there is nothing left to cancel.',
  advice: 'Destroy the instance if you do not want it.',
}
