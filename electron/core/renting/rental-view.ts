import type { InstanceView } from '#shared/instance/instance.ts'
import type { AttemptView, PastRental, RentalStep, RentalView } from '#shared/market/rental-view.ts'
import { micros } from '#shared/spending/money.ts'
import type { AccountView } from '#shared/state.ts'
import { nothingAsGoodCode } from './messages.ts'
import { droppedAt } from './next-move.ts'
import { type Attempt, isProven, isRetrying, openAttempt, type Rental, spentOn } from './rental.ts'

type Instances = Readonly<Record<string, InstanceView>>

/**
 * The rentals that the page shows: those in progress, those that failed and left nothing, and with retries those with
 * more than one attempt, until they are dismissed or their instance is gone. A recovery that finds nothing as good is shown
 * by the recovery.
 */
export function rentalViews(rentals: readonly Rental[], instances: Instances): Record<string, RentalView> {
  const shown = rentals.filter(rental => {
    const { step, attempts, instance, dismissed, problem } = rental
    if (step === 'trying') return true
    if (dismissed || step === 'cancelled' || problem?.code === nothingAsGoodCode) return false
    if (!isRetrying(rental)) return step === 'failed' && instance === undefined
    return step === 'failed' || (attempts.length > 1 && instances[instance ?? ''] !== undefined)
  })
  return Object.fromEntries(shown.map(rental => [rental.id, viewOf(rental, instances)]))
}

/** The most setups of past rentals that are shown. */
const mostPast = 20

/**
 * The setups of successful rentals that the user chose, none of a project, a watch, a recovery, an agent or a script:
 * each once, with what it was last rented with, and the last one first. Names that differ in their number alone, as of
 * machines rented together, are of one.
 */
export function pastRentals(rentals: readonly Rental[]): AccountView['pastRentals'] {
  const bySetup = new Map<string, PastRental>()
  for (const rental of rentals.toReversed()) {
    const past = pastRental(rental)
    if (!past) continue
    const { what, offer, setup } = past
    const key = JSON.stringify([what.replace(/(?<!\d)\d{1,9}$/, ''), offer.gpuName, offer.gpuCount, setup])
    if (!bySetup.has(key)) bySetup.set(key, past)
    if (bySetup.size === mostPast) break
  }
  return bySetup.size > 0 ? [...bySetup.values()] : undefined
}

function pastRental(rental: Rental): PastRental | undefined {
  const { id, request, why, by, byCommand, unwanted, attempts, step } = rental
  const attempt = attempts.at(-1)
  if (why !== 'user' || by !== undefined || unwanted || attempt?.instance === undefined || attempt.unwanted)
    return undefined
  if (isRetrying(rental) && step !== 'ready') return undefined
  const setup = request.template?.name || request.image
  return {
    id,
    what: request.label || request.template?.name || attempt.offer.gpuName || request.image,
    offer: attemptView(attempt).offer,
    setup,
    disk: request.disk,
    limits: (request.limits ?? []).map(({ most: _, ...limit }) => limit),
    ...(request.access === 'none' && { withoutSsh: true }),
    byCommand,
  }
}

function viewOf(rental: Rental, instances: Instances): RentalView {
  const { id, request, retries, attempts, startedAt, unwanted, replaces } = rental
  const current = openAttempt(rental)
  const { step, since } = stepOf(rental, current, instances)
  return {
    id,
    step,
    since,
    attempts: attempts.map(attemptView),
    retries: retries && {
      most: retries.attempts,
      spent: spentOn(rental),
      ceiling: micros(retries.ceiling),
    },
    deadline: current?.deadline ?? retries?.deadline ?? 0,
    givesUpAt: isRetrying(rental) && current ? droppedAt(rental, current) : undefined,
    startedAt,
    image: request.image,
    template: request.template?.name,
    label: request.label || undefined,
    interruptible: request.bid !== undefined,
    entered: retries !== undefined && request.access === 'ssh',
    instance: rental.instance ?? current?.instance,
    isOwn: (current && isProven(current)) || undefined,
    replaces,
    cancelling: rental.step === 'trying' && unwanted === true,
    problem: rental.problem ?? current?.problem,
    candidates: current?.step === 'unclear' ? current.candidates : undefined,
  }
}

function attemptView({ mark, offer, startedAt, instance, drop, cost }: Attempt): AttemptView {
  const { machineId, hostId: _, ...shown } = offer
  return { mark, offer: shown, machineId, startedAt, instance, why: drop?.why, cost }
}

function stepOf(
  rental: Rental,
  current: Attempt | undefined,
  instances: Instances,
): { step: RentalStep; since: number } {
  const { step, startedAt, endedAt, attempts, unwanted } = rental
  if (step !== 'trying') return { step, since: endedAt ?? startedAt }
  if (!current) return { step: 'searching', since: attempts.at(-1)?.endedAt ?? startedAt }
  if (isRetrying(rental) && (current.drop || unwanted))
    return { step: 'dropping', since: current.drop?.at ?? current.startedAt }
  const { runningAt, createdAt = current.startedAt, instance } = current
  if (instance === undefined)
    return {
      step: current.step === 'lost' || current.step === 'unclear' ? current.step : 'asking',
      since: current.startedAt,
    }
  if (runningAt !== undefined && instances[instance]?.state === 'running')
    return { step: 'entering', since: runningAt }
  return { step: current.step === 'late' ? 'late' : 'waiting', since: createdAt }
}
