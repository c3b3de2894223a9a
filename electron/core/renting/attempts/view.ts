import type { AttemptSeriesStep, AttemptSeriesView } from '#contract/automation/attempts.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { micros } from '#contract/spending/money.ts'
import type { Rental } from '../rentals/model.ts'
import { type Attempt, type AttemptSeries, openAttempt, spentOn } from './model.ts'
import { nothingAsGoodCode } from './words.ts'

type Rentals = (id: string) => Rental | undefined
type Instances = Readonly<Record<string, InstanceView>>

/**
 * The series that the page shows: those in progress, those that failed, and those with more than one attempt, until
 * they are dismissed or their instance is gone. A recovery that finds nothing as good is shown by the recovery.
 */
export function seriesViews(
  attempts: readonly AttemptSeries[],
  rentals: Rentals,
  instances: Instances,
): Record<string, AttemptSeriesView> {
  const shown = attempts.filter(({ step, attempts, instance, dismissed, problem }) => {
    if (step === 'trying') return true
    if (dismissed || step === 'cancelled' || problem?.code === nothingAsGoodCode) return false
    return step === 'failed' || (attempts.length > 1 && instances[instance ?? ''] !== undefined)
  })
  return Object.fromEntries(shown.map(series => [series.id, viewOf(series, rentals, instances)]))
}

function viewOf(series: AttemptSeries, rentals: Rentals, instances: Instances): AttemptSeriesView {
  const { id, search, request, limits, attempts, startedAt, unwanted, problem, replaces } = series
  const current = openAttempt(series)
  const rental = current && rentals(current.rental)
  const { step, since } = stepOf(series, current, rental, instances)
  return {
    id,
    step,
    since,
    attempts: attempts.map(attemptView),
    most: limits.attempts,
    spent: spentOn(series),
    ceiling: micros(limits.ceiling),
    deadline: limits.deadline,
    startedAt,
    image: request.image,
    template: request.template?.name,
    label: request.label || undefined,
    interruptible: search.query.type === 'bid',
    entered: request.access === 'ssh',
    instance: series.instance ?? current?.instance,
    replaces,
    cancelling: series.step === 'trying' && unwanted === true,
    problem: problem ?? rental?.problem,
    candidates: rental?.step === 'unclear' ? rental.candidates : undefined,
  }
}

function attemptView({
  rental,
  offer,
  startedAt,
  instance,
  drop,
  cost,
}: Attempt): AttemptSeriesView['attempts'][number] {
  const { machineId, hostId: _, ...shown } = offer
  return { rental, offer: shown, machineId, startedAt, instance, why: drop?.why, cost }
}

function stepOf(
  series: AttemptSeries,
  current: Attempt | undefined,
  rental: Rental | undefined,
  instances: Instances,
): { step: AttemptSeriesStep; since: number } {
  const { step, startedAt, endedAt, attempts, unwanted } = series
  if (step !== 'trying') return { step, since: endedAt ?? startedAt }
  if (!current || !rental) return { step: 'searching', since: attempts.at(-1)?.endedAt ?? startedAt }
  if (current.drop || unwanted) return { step: 'dropping', since: current.drop?.at ?? current.startedAt }
  if (rental.instance === undefined) return { step: 'renting', since: current.startedAt }
  if (current.runningAt !== undefined && instances[rental.instance]?.state === 'running')
    return { step: 'entering', since: current.runningAt }
  return { step: 'booting', since: rental.createdAt ?? current.startedAt }
}
