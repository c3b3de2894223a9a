import { BerthError } from '#contract/problem.ts'
import type { AccountContext, Automation } from '#core/account-context.ts'
import type { StoredLimits } from '#core/limits/model.ts'
import { openCollection } from '#core/storage/collection.ts'
import { rentalSecrets, withoutSecrets } from '../rentals/secrets.ts'
import type { Rentals } from '../rentals/service.ts'
import { type FailedMachines, openFailedMachines } from './failed-machines.ts'
import { blameHosts } from './host-failure.ts'
import { AttemptSeries } from './model.ts'
import { notifyOfAttempts } from './notify.ts'
import type { AttemptParts } from './outcomes.ts'
import { createAttemptSnapshots } from './snapshots.ts'
import { seriesViews } from './view.ts'
import { createAttemptWork } from './work.ts'

/** The request for a series of attempts. */
export type AttemptSeriesRequest = Pick<AttemptSeries, 'search' | 'request' | 'limits' | 'first' | 'replaces'>

/**
 * The series of attempts of one account. Each tries one machine after another until one can be entered. An attempt is a
 * rental, which guarantees that it happens once; the series decides what becomes of it, after fresh polls only, and
 * stores that before it acts.
 */
export interface Attempts extends Automation {
  readonly hosts: FailedMachines
  /**
   * Resolves with its id once it is on disk; it then continues by itself. A known `id` starts nothing. `asked`: by the
   * user.
   */
  start(wanted: AttemptSeriesRequest, id?: string, asked?: boolean): Promise<string>
  /**
   * Ends it at any step and destroys what it created. `needless`: cancelled by its recovery, or after the recovery has
   * handled the user's cancelling. Throws `too_late` once it has ended otherwise.
   */
  cancel(id: string, needless?: boolean): Promise<void>
  dismiss(id: string): Promise<void>
  find(id: string): AttemptSeries | undefined
  /** All that are stored, oldest first. */
  all(): readonly AttemptSeries[]
  /** Resolves once pending changes were written or failed. */
  written(): Promise<void>
  /** Forgets that a machine failed. */
  forgive(machine: number): Promise<void>
  /** Whether any series is in progress. */
  underWay(): boolean
}

/** The number of ended series that are stored. */
const mostEnded = 50

export async function openAttempts(
  context: AccountContext,
  rentals: Rentals,
  limits: Pick<StoredLimits, 'actedOn'>,
): Promise<Attempts> {
  const secrets = rentalSecrets(context.keychain)
  const hosts = await openFailedMachines(context)
  const snapshots = createAttemptSnapshots(context, limits)
  const rentalOf = (id: string) => (rentals.knows(id) ? rentals.rented(id) : undefined)
  const attempts = await openCollection(context, {
    name: 'attempts',
    schema: AttemptSeries,
    key: ({ id }) => id,
    missing: { code: 'no_such_attempts', message: 'Those attempts are no longer on the list.' },
    prune: { isOver: ({ step }) => step !== 'trying', most: mostEnded },
    view: all => ({
      attempts: seriesViews(all, rentalOf, snapshots.instances()),
      failedMachines: hosts.view(),
    }),
  })
  const { all, find, get, update } = attempts
  const parts: AttemptParts = { context, attempts, rentals, rentalOf, hosts, secrets }
  const work = createAttemptWork(parts, snapshots)

  return {
    async start(wanted, given, asked = given === undefined) {
      const id = given ?? `f${context.newId()}`
      if (find(id)) return id
      await secrets.keep(id, wanted.request)
      try {
        await attempts.add({
          ...wanted,
          id,
          request: withoutSecrets(wanted.request),
          step: 'trying',
          attempts: [],
          startedAt: context.now(),
        })
      } catch (error) {
        await secrets.forget({ id, request: wanted.request }).catch(() => undefined)
        throw error
      }
      notifyOfAttempts(context, {
        series: get(id),
        text: `Renting with failover: up to ${wanted.limits.attempts} attempts`,
        asked,
      })
      void work.pursue(id)
      return id
    },
    async cancel(id, needless = false) {
      const { step, unwanted } = get(id)
      if (step !== 'trying' && !(needless && step === 'cancelled')) throw new BerthError(tooLate)
      if (unwanted && !needless) return
      await update(id, { unwanted: true, needless })
      void work.pursue(id)
    },
    async dismiss(id) {
      if (get(id).step !== 'trying') await update(id, { dismissed: true })
    },
    find,
    all,
    written: attempts.flush,
    hosts,
    onPoll(poll) {
      const trying = all().filter(({ step }) => step === 'trying')
      snapshots.onPoll(trying, poll)
      for (const { id } of trying) void work.pursue(id)
      void blameHosts(parts, poll)
      attempts.show()
    },
    show: attempts.show,
    secretOwners: () => all().flatMap(({ id, step }) => (step === 'trying' ? id : [])),
    async forgive(machineId) {
      await hosts.forgive(machineId)
      attempts.show()
    },
    dueAt: work.dueAt,
    underWay: () => all().some(({ step }) => step === 'trying'),
    async flush() {
      await Promise.all([attempts.flush(), hosts.flush()])
    },
  }
}

const tooLate = {
  code: 'too_late',
  message: 'It has ended already, so there is nothing left to cancel.',
  advice: 'Destroy the instance if you do not want it.',
}
