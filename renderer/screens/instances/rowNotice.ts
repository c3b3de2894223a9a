import { unknownRental } from '#renderer/bridge/stateWords.ts'
import { isNear } from '#renderer/features/limits/limitWords.ts'
import { wantsAnswer } from '#renderer/features/limits/upcomingEnds.ts'
import { bidsTooLow, winningBid } from '#shared/automation/bid.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { hinderedLimits } from '#shared/automation/limit-words.ts'
import { contractEndsIn, diskNearlyFull, diskUse, isContractOver, isDead } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { duration, moment } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import {
  afterContract,
  costUntilDestroyed,
  creditUsedUp,
  troubleWords,
} from '#shared/instance/instance-words.ts'
import { maintenanceWords } from '#shared/instance/maintenance.ts'
import { lowBidWords } from '#shared/instance/outbid-words.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { TunnelView } from '#shared/instance/tunnel.ts'
import { isRenting, type RentalView } from '#shared/market/rental-view.ts'
import type { Micros } from '#shared/spending/money.ts'
import {
  increasedRate,
  increaseFrom,
  type PriceIncreaseView,
  priceChanges,
} from '#shared/spending/price-increase.ts'
import type { Row } from './rows.ts'

/** The notice under a row; its kind decides which buttons it has. */
export type RowNotice =
  | { kind: 'steps' }
  /** Its stop, if there is no column for it. */
  | { kind: 'stops' }
  | { kind: 'runs' }
  | { kind: 'attempts'; rental: RentalView; retries: NonNullable<RentalView['retries']> }
  | { kind: 'tunnel'; tunnel: TunnelView }
  /** `hindered`: that none of its limits can act now. */
  | { kind: 'limit'; limit: LimitView; hindered?: string }
  | { kind: 'note'; text: string }
  | { kind: 'waiting'; text: string }
  | { kind: 'outbid'; text: string; bid: number | undefined }
  /** At rest, with a bid that does not run now. */
  | { kind: 'lowBid'; text: string; bid: number | undefined }
  /** `final`: it cannot run again, so the notice offers to destroy it. */
  | { kind: 'dead'; text: string; final: boolean }
  | { kind: 'priceIncrease'; text: string; increase: PriceIncreaseView }
  | { kind: 'late'; text: string }
  /** No machine was rented, or it was given back. */
  | { kind: 'failed'; text: string; rental: RentalView['id'] }
  | { kind: 'unclear'; text: string; candidates: readonly number[] }

/** The account's time in epoch seconds, its credit, and why limits cannot act and nothing can be asked. */
interface NoticeContext {
  now: number
  credit?: Micros
  hindrance?: string
  /** A note above the screen already says that limits wait. */
  saidAbove?: boolean
}

/** The notice under a row, if it has one. */
export function rowNoticeOf(row: Row, context: NoticeContext = { now: 0 }): RowNotice | undefined {
  return ownNotice(row, context) ?? (row.runs ? { kind: 'runs' } : undefined)
}

function ownNotice(
  { instance, rental, tunnel, limit, limitsByBerth = 0, increase, maintenance, replacedBy }: Row,
  context: NoticeContext,
): RowNotice | undefined {
  const { retries } = rental ?? {}
  const attempts = rental && retries && ({ kind: 'attempts', rental, retries } as const)
  if (attempts && (isRenting(rental) || !instance)) return attempts
  const trouble = (instance && troubleWords(instance)) ?? ''
  if (instance && isDead(instance))
    return { kind: 'dead', text: `${trouble} ${costUntilDestroyed(instance)}`, final: isBroken(instance) }
  if (instance?.state === 'waiting') return { kind: 'waiting', text: trouble }
  if (rental && !attempts && instance?.state !== 'running') return rentalNotice(rental, context)
  if (!instance) return undefined
  const hindered = context.saidAbove ? undefined : hinderedLimits(limitsByBerth, context.hindrance)
  if (limit && isNear(limit)) return { kind: 'limit', limit, ...(hindered && { hindered }) }
  if (instance.state === 'outbid') return { kind: 'outbid', text: trouble, bid: winningBid(instance) }
  if (attempts) return attempts
  if (instance.ssh?.problem) return { kind: 'note', text: instance.ssh.problem }
  if (tunnel) return { kind: 'tunnel', tunnel }
  if (instance.state === 'frozen')
    return { kind: 'note', text: `${trouble} Resume it from its menu, or stop it.` }
  if (instance.state === 'exited') return { kind: 'note', text: trouble }
  if (hasTrait(instance.state, 'booting')) return { kind: 'steps' }
  const rest = hasTrait(instance.state, 'startable') ? restNotice(instance, replacedBy, context) : undefined
  const coming = rest ?? noteIf(hindered) ?? comingNotice(instance, { increase, maintenance }, context.now)
  return coming ?? (limit && wantsAnswer(limit, context.now) ? { kind: 'limit', limit } : undefined)
}

/** The instance's warnings in one notice, with a price increase that the user has not accepted yet. */
function comingNotice(instance: InstanceView, coming: Coming, now: number): RowNotice | undefined {
  const { increase } = coming
  const warnings = warningsOf(instance, now, coming)
  if (increase && !increase.accepted) {
    const text = [...warnings, increaseWords(increase, instance, now)].join(' ')
    return { kind: 'priceIncrease', text, increase }
  }
  return noteIf(warnings.length === 0 ? undefined : warnings.join(' '))
}

function rentalNotice(rental: RentalView, { hindrance }: NoticeContext): RowNotice {
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
        kind: 'failed',
        text: why || (rental.step === 'failed' ? 'Renting failed.' : 'Cancelled.'),
        rental: rental.id,
      }
    default:
      // A rental that waits for an answer shows its steps; one that the service did not start has none.
      return (
        noteIf(unknownRental(rental, hindrance) ?? (rental.problem?.code === 'no_gpu' ? why : undefined)) ?? {
          kind: 'steps',
        }
      )
  }
}

/** The note for an instance at rest: why it cannot start, or that the reason for its end is unknown. */
function restNotice(
  instance: InstanceView,
  replacedBy: number | undefined,
  { now, credit }: NoticeContext,
): RowNotice | undefined {
  if (isContractOver(instance, now)) return noteIf(`Its contract is over: ${afterContract}.`)
  if (credit !== undefined && credit <= 0) return noteIf(creditUsedUp)
  if (replacedBy !== undefined)
    return noteIf(
      `Replaced by #${replacedBy} after it was outbid. Its files are kept. ${costUntilDestroyed(instance)}`,
    )
  if (bidsTooLow(instance)) return { kind: 'lowBid', text: lowBidWords(instance), bid: winningBid(instance) }
  return instance.state === 'ended' ? noteIf(troubleWords(instance)) : undefined
}

function noteIf(text: string | undefined): RowNotice | undefined {
  return text === undefined ? undefined : { kind: 'note', text }
}

/** Whether its container is lost, so that it cannot run again. */
function isBroken({ state }: InstanceView): boolean {
  return state === 'crashed' || state === 'unstartable'
}

/** What an instance's host asks for and has announced. */
type Coming = Pick<Row, 'increase' | 'maintenance'>

/** The near end of the contract, maintenance and a nearly full disk, a sentence each. `now`: epoch seconds of the account's time. */
export function warningsOf(instance: InstanceView, now: number, { increase, maintenance }: Coming): string[] {
  const left = contractEndsIn(instance, now)
  const use = diskUse(instance)
  return [
    ...(left === undefined || increase?.accepted
      ? []
      : [`Its contract ends in ${duration(left)}. Then ${afterContract}.`]),
    ...(maintenance ? [maintenanceWords(maintenance, now)] : []),
    ...(use === undefined || use < diskNearlyFull
      ? []
      : [`Its disk is ${Math.floor(use * 100)}% full and can’t grow.`]),
  ]
}

/** A host's price increase: `Its host asks for $0.600/h instead of $0.400/h from Sun 3 May, 14:00 on.` */
export function increaseWords(increase: PriceIncreaseView, instance: InstanceView, now: number): string {
  const prices = increasedRate(increase, instance)
  const wanted = prices
    ? `${rate(prices.after)}, now ${rate(prices.before)}`
    : `higher prices (${priceChanges(increase).join(', ')})`
  return `Its host asks for ${wanted}, ${increaseFrom(increase, now)}.`
}

/** A price increase that the user has accepted. */
export function acceptedWords(increase: PriceIncreaseView, instance: InstanceView, now: number): string {
  const prices = increasedRate(increase, instance)
  const cost = prices
    ? `It costs ${rate(prices.after)}`
    : `It costs more (${priceChanges(increase).join(', ')})`
  const until = increase.until === undefined ? '' : `, until ${moment(increase.until, now)}`
  return `${cost} ${increaseFrom(increase, now)}${until}, as you accepted.`
}
