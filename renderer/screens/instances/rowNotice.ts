import { bidsTooLow } from '#contract/automation/bid.ts'
import type { LimitView } from '#contract/automation/limit.ts'
import { hinderedLimits } from '#contract/automation/limit-words.ts'
import { rate } from '#contract/format/money.ts'
import { duration } from '#contract/format/time.ts'
import type { InstanceState, InstanceView } from '#contract/instance/instance.ts'
import { startFailure } from '#contract/instance/start-failure.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { TunnelView } from '#contract/instance/tunnel.ts'
import { isRenting, type RentalView } from '#contract/market/rental-view.ts'
import { isCharged, isContractOver, isDead } from '#contract/reading.ts'
import type { Micros } from '#contract/spending/money.ts'
import type { PriceIncreaseView } from '#contract/spending/price-increase.ts'
import { costOf } from '#contract/spending/spend-words.ts'
import { isNear } from '#renderer/features/limits/limitWords.ts'
import { unknownRental } from '#renderer/words/state.ts'
import { winningBid } from './bid.ts'
import type { Row } from './rows.ts'
import { wantsAnswer } from './stops/stops.ts'
import { increaseWords, warningsOf } from './warnings/warningWords.ts'

/** The notice under a row; its kind decides which buttons it has. */
export type RowNotice =
  | { kind: 'steps' }
  /** What stops it, where that has no column. */
  | { kind: 'stops' }
  | { kind: 'runs' }
  | { kind: 'tries'; rental: RentalView; retries: NonNullable<RentalView['retries']> }
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
  | { kind: 'unclear'; text: string; candidates: readonly number[] }

/** The account's time in epoch seconds, its credit, and why limits cannot act and nothing can be asked. */
interface NoticeContext {
  now: number
  credit?: Micros
  hindrance?: string
  /** It is said once above the screen that limits wait. */
  saidAbove?: boolean
}

/** The notice under a row, if it has one. */
export function rowNoticeOf(row: Row, context: NoticeContext = { now: 0 }): RowNotice | undefined {
  return ownNotice(row, context) ?? (row.runs ? { kind: 'runs' } : undefined)
}

function ownNotice(
  { instance, rental, tunnel, limit, limitsSet = 0, increase, replacedBy }: Row,
  context: NoticeContext,
): RowNotice | undefined {
  const { retries } = rental ?? {}
  const tries = rental && retries && ({ kind: 'tries', rental, retries } as const)
  if (tries && (isRenting(rental) || !instance)) return tries
  if (instance && isDead(instance))
    return { kind: 'dead', text: deathOf(instance), final: isBroken(instance) }
  if (instance?.state === 'waiting') return { kind: 'waiting', text: waitingText }
  if (rental && !tries && instance?.state !== 'running') return rentalNotice(rental, context)
  if (!instance) return undefined
  const hindered = context.saidAbove ? undefined : hinderedLimits(limitsSet, context.hindrance)
  if (limit && isNear(limit)) return { kind: 'limit', limit, ...(hindered && { hindered }) }
  if (instance.state === 'outbid')
    return { kind: 'outbid', text: outbidText(instance), bid: winningBid(instance) }
  if (tries) return tries
  if (instance.ssh?.problem) return { kind: 'note', text: instance.ssh.problem }
  if (tunnel) return { kind: 'tunnel', tunnel }
  if (instance.state === 'frozen') return { kind: 'note', text: frozenText }
  if (instance.state === 'exited') return { kind: 'note', text: exitedText(instance) }
  if (hasTrait(instance.state, 'booting')) return { kind: 'steps' }
  const rest = hasTrait(instance.state, 'startable') ? restNotice(instance, replacedBy, context) : undefined
  const coming = rest ?? noteIf(hindered) ?? comingNotice(instance, increase, context.now)
  return coming ?? (limit && wantsAnswer(limit, context.now) ? { kind: 'limit', limit } : undefined)
}

/** The instance's warnings in one notice, with a price increase that the user has not accepted yet. */
function comingNotice(
  instance: InstanceView,
  increase: PriceIncreaseView | undefined,
  now: number,
): RowNotice | undefined {
  const warnings = warningsOf(instance, now, increase)
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
        kind: 'note',
        text: why || (rental.step === 'failed' ? 'It could not be rented.' : 'Cancelled.'),
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

const waitingText =
  'Its GPU is probably rented to somebody else. It starts, and is charged, once the GPU is free.'

const frozenText = 'Its GPUs are billed although nothing runs. Resume it from its menu, or stop it.'

function exitedText(instance: InstanceView): string {
  return `Its container ended, and may restart.${saidOf(instance)}`
}

function saidOf({ statusMessage }: InstanceView): string {
  return statusMessage === undefined ? '' : ` The service says: ${statusMessage}`
}

/** What is to be known of one that is at rest: why it cannot start, else that nobody says why it ended. */
function restNotice(
  instance: InstanceView,
  replacedBy: number | undefined,
  { now, credit }: NoticeContext,
): RowNotice | undefined {
  if (isContractOver(instance, now))
    return noteIf(
      'Its contract is over: it cannot start again, and its data may be deleted 48 hours after the end.',
    )
  if (credit !== undefined && credit <= 0)
    return noteIf('The credit is used up: it cannot start, its disk is still charged, and it may be deleted.')
  if (replacedBy !== undefined)
    return noteIf(
      `Replaced by #${replacedBy} once it was outbid. Its files are kept. ${untilDestroyed(instance)}`,
    )
  if (bidsTooLow(instance)) return { kind: 'lowBid', text: lowBidText(instance), bid: winningBid(instance) }
  if (instance.state !== 'ended') return undefined
  return noteIf(`It was stopped or has crashed: the service does not say which.${saidOf(instance)}`)
}

/** Deployments may show one that was outbid as if its user had stopped it, so only Berth's own stop is certain. */
function lowBidText({ state, asked, bid = 0, minimumBid = 0 }: InstanceView): string {
  const bids = `The lowest bid that runs now is ${rate(minimumBid)}, yours is ${rate(bid)}: raise it before you start.`
  if (asked?.state === 'stopped') return bids
  return `It was outbid or stopped${state === 'ended' ? ', or has crashed' : ''}. ${bids}`
}

function noteIf(text: string | undefined): RowNotice | undefined {
  return text === undefined ? undefined : { kind: 'note', text }
}

function outbidText(instance: InstanceView): string {
  const { bid, minimumBid } = instance
  const yours = bid === undefined ? 'Someone bids more' : `Yours ${rate(bid)}`
  const theirs =
    minimumBid === undefined
      ? bid === undefined
        ? ''
        : ', theirs is higher'
      : `, theirs ${rate(minimumBid)}`
  return `${yours}${theirs}. Files are kept.`
}

/** Whether its container is lost, so that it cannot run again. */
function isBroken({ state }: InstanceView): boolean {
  return state === 'crashed' || state === 'unstartable'
}

/** Another machine would not help. */
const noImage = 'The image cannot be pulled: it does not exist, or needs a login.'

const deaths: Partial<Record<InstanceState, string>> = {
  unstartable: 'Its container can’t be started.',
  crashed: 'The container crashed.',
  offline: 'Its host is disconnected, and may come back.',
  silent: 'Its host does not answer, and may come back.',
}

function deathOf(instance: InstanceView): string {
  const { state, statusMessage } = instance
  const said =
    isBroken(instance) && statusMessage ? ` The service says: ${statusMessage.replace(/\.$/, '')}.` : ''
  const image = state === 'unstartable' && startFailure(statusMessage) === 'image'
  return `${image ? noImage : (deaths[state] ?? '')}${said} ${untilDestroyed(instance)}`
}

/** What one that cannot run costs meanwhile. */
function untilDestroyed(instance: InstanceView): string {
  if (!isCharged(instance)) return 'Nothing is charged for it now.'
  return `It costs ${costOf([instance])} until you destroy it.`
}
