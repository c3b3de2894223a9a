import type { Problem } from '../../contract/problem.ts'
import type { Micros } from '../../contract/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { guardVeto } from '../guards/guard-veto.ts'
import type { Attempts } from '../renting/attempts/service.ts'
import type { RentalSecrets } from '../renting/rentals/secrets.ts'
import type { Runs } from '../runs/service.ts'
import type { Collection } from '../storage/collection.ts'
import { doneAlert } from './alerts.ts'
import type { Watch } from './model.ts'
import { watchAlerts } from './watch-alerts.ts'

/** What watches rent by themselves. */
export interface WatchRenting {
  /** Something matches at that price, micro-dollars per hour. */
  next(id: string, price: Micros): Promise<void>
  /** Nothing matches, so it waits for nothing. */
  none(id: string): Promise<void>
  /** Checks what became of the machine that it is renting. */
  check(id: string): Promise<void>
}

/** Attempts in a row that may come to nothing before a watch stops renting. */
const mostFailed = 3

/** What it works on besides the account. */
interface RentingParts {
  watches: Collection<Watch, string>
  attempts: Pick<Attempts, 'start' | 'find'>
  runs: Pick<Runs, 'startOn' | 'forget'>
  secrets: RentalSecrets
  /** Shows why a watch rents no more. */
  said(id: string, problem: Problem): void
}

export function createWatchRenting(
  context: AccountContext,
  { watches, attempts, runs, secrets, said }: RentingParts,
): WatchRenting {
  const { account, store, ending } = context
  const { find, get, update } = watches
  const { note, alert } = watchAlerts(context)
  /** Watches whose renting is being checked or begun: an end is not counted twice, nor a beginning taken for none. */
  const busy = new Set<string>()

  async function alone(id: string, act: (watch: Watch) => Promise<void>): Promise<void> {
    if (busy.has(id)) return
    busy.add(id)
    await act(get(id)).finally(() => busy.delete(id))
  }

  /** Nothing is rented that a guard would stop at the next poll: its disk would be charged for no use. */
  async function withinGuards(watch: Watch, price: Micros): Promise<void> {
    const { id, request, renting, rented } = watch
    if (!request.rents || renting !== undefined || rented >= request.rents.most) return
    const waits = guardVeto(store.get().accounts[account], { more: price }, context.now())
    if (waits?.message !== watch.waits?.message) {
      await update(id, { waits })
      if (waits) note('berth', `The watch “${request.name}” rents nothing for now`, waits.message)
    }
    if (!waits) await begin(get(id))
  }

  async function begin({ id, request, run }: Watch): Promise<void> {
    const { search, rents } = request
    if (!rents) return
    const openRequest = await secrets.restore({ id }, rents.request)
    // A keychain may ask the user first: meanwhile it may be paused, changed or deleted.
    const now = find(id)
    if (ending.aborted || !now || now.paused || now.request !== request || now.run !== run) return
    if (!openRequest) return stop(id, secretsLost)
    const attemptSeries = `f${context.newId()}`
    await watches.intend(id, { renting: attemptSeries })
    const then = run ? ` “${run.name}” is run there.` : ''
    note('berth', `The watch “${request.name}” rents`, `An offer matches.${then}`)
    const rent = () => attempts.start({ search, request: openRequest, limits: rents.limits }, attemptSeries)
    await (run ? runs.startOn({ ...run, attemptSeries, rentedAgain: true }, rent) : rent())
    watches.show()
  }

  /** What became of the machine it is renting. One that never began is none. */
  async function check({ id, renting, rented, failed, request }: Watch): Promise<void> {
    if (renting === undefined) return
    const attemptSeries = attempts.find(renting)
    switch (attemptSeries?.step) {
      case 'trying':
        return
      case 'ready':
        await update(id, { renting: undefined, rented: rented + 1, failed: 0 })
        if (request.rents && rented + 1 >= request.rents.most) await finish(id)
        return
      case 'cancelled':
        await update(id, { renting: undefined, paused: true, notesPrices: true })
        return note('berth', `The watch “${request.name}” is paused`, 'What it was renting was cancelled.')
      case 'failed':
        // A machine that somebody stopped is there all the same, and costs its disk: the next one would, too.
        if (attemptSeries.instance !== undefined) {
          await update(id, { renting: undefined, rented: rented + 1 })
          return stop(id, kept(attemptSeries.instance))
        }
        await update(id, { renting: undefined, failed: failed + 1 })
        if (failed + 1 >= mostFailed) await stop(id, failsAlways)
        return
      default:
        await Promise.all([runs.forget(renting), update(id, { renting: undefined })])
    }
  }

  async function finish(id: string): Promise<void> {
    await update(id, { paused: true, notesPrices: true })
    const watch = find(id)
    if (!watch) return
    const machines = watch.rented === 1 ? 'One machine was' : `${watch.rented} machines were`
    const body = `${machines} rented, as many as it may.`
    alert(doneAlert(watch, `“${watch.request.name}” has done its work`, body))
  }

  async function stop(id: string, problem: Problem): Promise<void> {
    // What the user has paused meanwhile stays so.
    const notesPrices = find(id)?.paused ? find(id)?.notesPrices : true
    await update(id, { paused: true, notesPrices, failed: 0 })
    said(id, problem)
    const watch = find(id)
    if (!watch) return
    const { message, advice = '' } = problem
    alert(doneAlert(watch, `“${watch.request.name}” is paused`, `${message} ${advice}`.trim()))
  }

  return {
    next: (id, price) => alone(id, watch => withinGuards(watch, price)),
    none: id =>
      alone(id, async ({ waits }) => {
        if (waits) await update(id, { waits: undefined })
      }),
    check: id => alone(id, check),
  }
}

const secretsLost: Problem = {
  code: 'secrets_lost',
  message: 'The secret values it rents with are no longer in the keychain.',
  advice: 'Change the watch and enter them again.',
}

const failsAlways: Problem = {
  code: 'watch_failed',
  message: `${mostFailed} attempts in a row came to nothing.`,
  advice: 'Activity says why. Go on with the watch to try again.',
}

function kept(instance: number): Problem {
  return {
    code: 'watch_kept',
    message: `#${instance} was stopped elsewhere while it was being rented, and is kept: its disk is charged.`,
    advice: 'Start or destroy it, then go on with the watch.',
  }
}
