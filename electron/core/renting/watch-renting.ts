import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { tellerOf } from '../alerts/notifications.ts'
import { blockingAccountLimit } from '../limits/may-start.ts'
import type { StoredWatchRun, Watch } from '../market/watch.ts'
import { type WatchRenting, type WatchRentingParts, watchDoneAlert } from '../market/watches.ts'
import type { Rentals } from './rentals.ts'

/** Failed rentals in a row after which a watch stops renting. */
const mostFailed = 3

/** Provided to renting by watches: how a run is started on the machine. */
export interface WatchRuns {
  startOn(
    run: StoredWatchRun & { rental: string; rentedAgain: true },
    rent: () => Promise<string>,
  ): Promise<string>
  /** Removes the run that waits for a rental which never began. */
  forget(rental: string): Promise<void>
}

export function createWatchRenting(
  context: AccountContext,
  rentals: Pick<Rentals, 'start' | 'find'>,
  runs: WatchRuns,
  { watches, secrets, showProblem }: WatchRentingParts,
): WatchRenting {
  const { account, store, ending } = context
  const { find, get, update } = watches
  const { note, alert } = tellerOf(context)
  /** Watches whose rental is being checked or begun, so that none is counted or begun twice. */
  const busy = new Set<string>()

  async function alone(id: string, act: (watch: Watch) => Promise<void>): Promise<void> {
    if (busy.has(id)) return
    busy.add(id)
    await act(get(id)).finally(() => busy.delete(id))
  }

  /** Rents only if no limit would stop the instance at the next poll: its disk would cost money for nothing. */
  async function withinLimits(watch: Watch, price: Micros): Promise<void> {
    const { id, request, renting, rented } = watch
    if (!request.rents || renting !== undefined || rented >= request.rents.most) return
    const waits = blockingAccountLimit(store.get().accounts[account], { more: price }, context.now())
    if (waits?.message !== watch.waits?.message) {
      await update(id, { waits })
      if (waits) alert(watchDoneAlert(watch, `“${request.name}” has paused renting`, waits.message))
    }
    if (!waits) await begin(get(id))
  }

  async function begin({ id, request, run }: Watch): Promise<void> {
    const { search, rents } = request
    if (!rents) return
    const openRequest = await secrets.restore(id, rents.request)
    // The keychain may have asked the user; meanwhile the watch may have been paused, changed or deleted.
    const now = find(id)
    if (ending.aborted || !now || now.paused || now.request !== request || now.run !== run) return
    if (!openRequest) return stop(id, secretsLost)
    const rental = `r${context.newId()}`
    await watches.intend(id, { renting: rental })
    const then = run ? ` It will run “${run.name}”.` : ''
    note('berth', `The watch “${request.name}” is renting`, `An offer matches.${then}`)
    const retryRequest = { search, request: openRequest, retries: rents.limits, why: 'watch' } as const
    const rent = () => rentals.start(retryRequest, rental)
    await (run ? runs.startOn({ ...run, rental, rentedAgain: true }, rent) : rent())
    watches.show()
  }

  /** Checks the rental. One that never began is dropped. */
  async function check({ id, renting, rented, failed, request }: Watch): Promise<void> {
    if (renting === undefined) return
    const rental = rentals.find(renting)
    switch (rental?.step) {
      case 'trying':
        return
      case 'ready': {
        const another = { renting: undefined, rented: rented + 1, failed: 0 }
        if (request.rents && rented + 1 >= request.rents.most) await finish(id, another)
        else await update(id, another)
        return
      }
      case 'cancelled':
        await update(id, { renting: undefined, paused: true, notesPrices: true })
        return note('berth', `The watch “${request.name}” is paused`, 'Its rental was cancelled.')
      case 'failed':
        // A machine that someone stopped still exists and costs its disk, and so would the next one.
        if (rental.instance !== undefined)
          return stop(id, keptProblem(rental.instance), { renting: undefined, rented: rented + 1 })
        if (failed + 1 >= mostFailed) return stop(id, failsAlways, { renting: undefined })
        await update(id, { renting: undefined, failed: failed + 1 })
        return
      default:
        await Promise.all([runs.forget(renting), update(id, { renting: undefined })])
    }
  }

  /** In one write with its cause, so that a kill cannot separate them. */
  async function finish(id: string, why: Partial<Watch>): Promise<void> {
    await update(id, { ...why, paused: true, notesPrices: true })
    const watch = find(id)
    if (!watch) return
    const machines = watch.rented === 1 ? 'One machine was' : `${watch.rented} machines were`
    const body = `${machines} rented, the maximum you set.`
    alert(watchDoneAlert(watch, `The watch “${watch.request.name}” is done`, body))
  }

  /** As `finish`. */
  async function stop(id: string, problem: Problem, why: Partial<Watch> = {}): Promise<void> {
    // A watch that the user paused meanwhile stays paused.
    const notesPrices = find(id)?.paused ? find(id)?.notesPrices : true
    await update(id, { ...why, paused: true, notesPrices, failed: 0 })
    showProblem(id, problem)
    const watch = find(id)
    if (!watch) return
    const { message, advice = '' } = problem
    alert(watchDoneAlert(watch, `“${watch.request.name}” is paused`, `${message} ${advice}`.trim()))
  }

  return {
    next: (id, price) => alone(id, watch => withinLimits(watch, price)),
    none: id =>
      alone(id, async ({ waits }) => {
        if (waits) await update(id, { waits: undefined })
      }),
    check: id => alone(id, check),
  }
}

const secretsLost: Problem = {
  code: 'secrets_lost',
  message: 'Its secret values are no longer in the keychain.',
  advice: 'Change the watch and enter them again.',
}

const failsAlways: Problem = {
  code: 'watch_failed',
  message: `${mostFailed} attempts in a row failed.`,
  advice: 'See Activity for the reasons. Resume the watch to try again.',
}

function keptProblem(instance: number): Problem {
  return {
    code: 'watch_kept',
    message: `#${instance} was stopped elsewhere while it was being rented, and is kept. Its disk is billed.`,
    advice: 'Start or destroy it, then resume the watch.',
  }
}
