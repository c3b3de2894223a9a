import type { InstanceView } from '#shared/instance/instance.ts'
import { machinesInTurn, mostOf, pricesOf } from '#shared/project/bounds.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { AccountContext } from '../account-context.ts'
import { rentalAlertId } from '../renting/messages.ts'
import { costOfAttempt, openAttempt, type Rental, spentOn } from '../renting/rental.ts'
import type { Rentals } from '../renting/rentals.ts'
import type { RunChange } from './changes.ts'
import type { ProjectRun, Run } from './model.ts'
import type { RunMachines } from './remote.ts'

/** What a run has to do with the rental of its machine. */
export class RunRental {
  readonly #context: Pick<AccountContext, 'account' | 'notifications'>
  readonly #rentals: Pick<Rentals, 'find' | 'cancel' | 'dismiss'>
  readonly #machines: Pick<RunMachines, 'viewOf'>

  constructor(
    context: Pick<AccountContext, 'account' | 'notifications'>,
    rentals: Pick<Rentals, 'find' | 'cancel' | 'dismiss'>,
    machines: Pick<RunMachines, 'viewOf'>,
  ) {
    this.#context = context
    this.#rentals = rentals
    this.#machines = machines
  }

  /** Takes back that renting has failed: the run says itself that it waits. */
  async forget({ rental: id = '' }: Run): Promise<void> {
    const rental = this.#rentals.find(id)
    if (!rental || rental.dismissed) return
    const { account, notifications } = this.#context
    notifications.withdraw(rentalAlertId(account, id))
    await this.#rentals.dismiss(id)
  }

  /** Undoes the rental of a cancelled run; resolves with its machine where that is to be destroyed still. */
  async undo({ rental = '', instance }: Run): Promise<number | undefined> {
    if (this.#rentals.find(rental)?.step === 'trying') await this.#rentals.cancel(rental)
    // It may have become ready meanwhile.
    const found = this.#rentals.find(rental)
    return instance ?? (found?.step === 'ready' ? found.instance : undefined)
  }

  /** Whether its rental is still being undone, so that its cost is not known yet; not while it waits for its user. */
  isUndoing({ rental = '' }: Run): boolean {
    const found = this.#rentals.find(rental)
    return found?.step === 'trying' && openAttempt(found)?.step !== 'unclear'
  }

  /** The changes for a newly found machine. */
  arrival(run: ProjectRun, instance: number | undefined): RunChange {
    const view = this.#machines.viewOf(instance)
    // In a sweep only the whole has limits, and the agreed ones count on every machine.
    const most = run.sweep ? undefined : (run.most ?? mostFrom(run, view))
    return {
      ...this.withAttempts(run),
      seeking: undefined,
      gpu: view?.gpu && { name: view.gpu.name, count: view.gpu.count },
      most,
    }
  }

  /**
   * The cost of the failed attempts to rent its machine counts for the run, each once. `until`: of a run that never got the
   * machine which is ready, that one's cost counts, too, up to that moment of the account's time.
   */
  withAttempts(run: Run, until?: number): RunChange {
    const rental = this.#rentals.find(run.rental ?? '')
    if (!rental) return {}
    const ready = until !== undefined && run.instance === undefined ? openAttempt(rental) : undefined
    const more = uncounted(run, rental) + (ready ? costOfAttempt(ready, until ?? 0) : 0)
    return withMore(run, rental, more)
  }
}

/** A run that counts `more` of its rental's attempts; by default all that is not counted yet. */
export function withMore(run: Run, rental: Rental, more = uncounted(run, rental)): RunChange {
  const before = run.counted?.rental === rental.id ? run.counted.micros : 0
  return {
    spentBefore: (run.spentBefore ?? 0) + more,
    attemptCost: (run.attemptCost ?? 0) + more,
    counted: { rental: rental.id, micros: before + more },
  }
}

/** The cost of a rental's finished attempts that its run does not count yet. */
export function uncounted({ counted }: Pick<Run, 'counted'>, rental: Rental): Micros {
  return Math.max(0, spentOn(rental) - (counted?.rental === rental.id ? counted.micros : 0))
}

/** The highest total cost of a run that rents its first machine; of several machines, for the first node alone. */
function mostFrom(
  { project: { spec, limits, price }, node, spentBefore = 0 }: ProjectRun,
  view: InstanceView | undefined,
): number | undefined {
  if (node && !node.network) return undefined
  const prices =
    node?.network?.offers.map(offer => offer.price) ??
    pricesOf(price ?? view?.pricePerHour, machinesInTurn(spec))
  const most = mostOf(spec, limits, prices)
  return most === undefined ? undefined : spentBefore + most
}
