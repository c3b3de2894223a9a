import { type FailoverView, isFailingOver } from '../../../electron/contract/automation/failover.ts'
import type { GuardView } from '../../../electron/contract/automation/guard.ts'
import type { InstanceState, InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { TunnelView } from '../../../electron/contract/instance/tunnel.ts'
import type { RentalView } from '../../../electron/contract/market/rental.ts'
import { isDead } from '../../../electron/contract/reading.ts'
import { rate } from '../../words/money.ts'
import { duration } from '../../words/time.ts'
import { winningBid } from './bid.ts'
import type { Row } from './rows.ts'

/** What a row has to say beyond its figures, by the kind of answer it wants. */
export type Under =
  | { kind: 'steps' }
  | { kind: 'runs' }
  | { kind: 'failover'; failover: FailoverView }
  | { kind: 'tunnel'; tunnel: TunnelView }
  | { kind: 'guard'; guard: GuardView }
  | { kind: 'note'; text: string }
  | { kind: 'outbid'; text: string; bid: number | undefined }
  | { kind: 'dead'; text: string }
  | { kind: 'late'; text: string }
  | { kind: 'unclear'; text: string; candidates: readonly number[] }

/** The line under a row, if it has anything to say. */
export function underOf(row: Row): Under | undefined {
  return ownUnder(row) ?? (row.runs ? { kind: 'runs' } : undefined)
}

function ownUnder({ instance, rental, failover, tunnel, guard }: Row): Under | undefined {
  if (failover && (isFailingOver(failover) || !instance)) return { kind: 'failover', failover }
  if (instance && isDead(instance)) return { kind: 'dead', text: deathOf(instance) }
  if (rental && instance?.state !== 'running') return underRental(rental)
  if (!instance) return undefined
  if (guard) return { kind: 'guard', guard }
  if (instance.state === 'outbid')
    return { kind: 'outbid', text: outbidText(instance), bid: winningBid(instance) }
  if (failover) return { kind: 'failover', failover }
  if (instance.ssh?.problem) return { kind: 'note', text: instance.ssh.problem }
  if (tunnel) return { kind: 'tunnel', tunnel }
  const onItsWay = instance.state === 'loading' || instance.state === 'provisioning'
  if (onItsWay && instance.statusMessage) return { kind: 'note', text: instance.statusMessage }
  return undefined
}

function underRental(rental: RentalView): Under {
  const why = [rental.problem?.message, rental.problem?.advice].filter(Boolean).join(' ')
  switch (rental.step) {
    case 'unclear':
      return {
        kind: 'unclear',
        text: why || 'The answer was lost. Which of the new instances is it?',
        candidates: rental.candidates ?? [],
      }
    case 'late':
      return {
        kind: 'late',
        text: `Not running after ${duration(rental.deadline)}; it usually takes 1 to 5 minutes. ${why}`.trim(),
      }
    case 'failed':
    case 'cancelled':
      return {
        kind: 'note',
        text: why || (rental.step === 'failed' ? 'It could not be rented.' : 'Cancelled.'),
      }
    default:
      return { kind: 'steps' }
  }
}

function outbidText(instance: InstanceView): string {
  const { bid, minimumBid } = instance
  const yours = bid === undefined ? '' : `, yours is ${rate(bid)}`
  const rival =
    minimumBid === undefined ? `Someone bids more${yours}.` : `Someone bids ${rate(minimumBid)}${yours}.`
  const disk = instance.diskPricePerHour ?? instance.costPerHour
  return `${rival} Your files are kept; the disk costs ${rate(disk)}.`
}

const deaths: Partial<Record<InstanceState, string>> = {
  crashed: 'The container crashed and will not run again.',
  offline: 'Its host is disconnected; it will not run again.',
  silent: 'Its host gives no sign of life; it will not run again.',
}

function deathOf(instance: InstanceView): string {
  return `${deaths[instance.state] ?? ''} It costs ${rate(instance.costPerHour)} until you destroy it.`
}
