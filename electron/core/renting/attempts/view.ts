import type { FailoverStep, FailoverView } from '../../../contract/automation/failover.ts'
import type { InstanceView } from '../../../contract/instance/instance.ts'
import { micros } from '../../../contract/spending/money.ts'
import type { Rental } from '../rentals/model.ts'
import { type Attempt, type Failover, openAttempt, spentOn } from './model.ts'
import { nothingAsGoodCode } from './words.ts'

type Rentals = (id: string) => Rental | undefined
type Instances = Readonly<Record<string, InstanceView>>

/**
 * The failovers that the page shows: those under way, those that failed, and those that took more than one try, until
 * they are dismissed or what they rented is gone. That a recovery finds nothing as good is shown by the recovery.
 */
export function failoverViews(
  failovers: readonly Failover[],
  rentals: Rentals,
  instances: Instances,
): Record<string, FailoverView> {
  const shown = failovers.filter(({ step, attempts, instance, dismissed, problem }) => {
    if (step === 'trying') return true
    if (dismissed || step === 'cancelled' || problem?.code === nothingAsGoodCode) return false
    return step === 'failed' || (attempts.length > 1 && instances[instance ?? ''] !== undefined)
  })
  return Object.fromEntries(shown.map(failover => [failover.id, viewOf(failover, rentals, instances)]))
}

function viewOf(failover: Failover, rentals: Rentals, instances: Instances): FailoverView {
  const { id, search, request, limits, attempts, startedAt, unwanted, problem, replaces } = failover
  const current = openAttempt(failover)
  const rental = current && rentals(current.rental)
  const { step, since } = standing(failover, current, rental, instances)
  return {
    id,
    step,
    since,
    attempts: attempts.map(attemptView),
    most: limits.attempts,
    spent: spentOn(failover),
    ceiling: micros(limits.ceiling),
    deadline: limits.deadline,
    startedAt,
    image: request.image,
    template: request.template?.name,
    label: request.label || undefined,
    interruptible: search.query.type === 'bid',
    entered: request.access === 'ssh',
    instance: failover.instance ?? current?.instance,
    replaces,
    cancelling: failover.step === 'trying' && unwanted === true,
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
}: Attempt): FailoverView['attempts'][number] {
  const { machineId, hostId: _, ...shown } = offer
  return { rental, offer: shown, machineId, startedAt, instance, why: drop?.why, cost }
}

function standing(
  failover: Failover,
  current: Attempt | undefined,
  rental: Rental | undefined,
  instances: Instances,
): { step: FailoverStep; since: number } {
  const { step, startedAt, endedAt, attempts, unwanted } = failover
  if (step !== 'trying') return { step, since: endedAt ?? startedAt }
  if (!current || !rental) return { step: 'searching', since: attempts.at(-1)?.endedAt ?? startedAt }
  if (current.drop || unwanted) return { step: 'dropping', since: current.drop?.at ?? current.startedAt }
  if (rental.instance === undefined) return { step: 'renting', since: current.startedAt }
  if (current.runningAt !== undefined && instances[rental.instance]?.state === 'running')
    return { step: 'entering', since: current.runningAt }
  return { step: 'booting', since: rental.createdAt ?? current.startedAt }
}
