import type { Settings } from '#contract/app/settings.ts'
import { money, rate } from '#contract/format/money.ts'
import { shortInstanceName } from '#contract/format/name.ts'
import { duration } from '#contract/format/time.ts'
import type { InstanceState, InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { isRenting } from '#contract/market/rental-view.ts'
import { creditLasts, isCharged, isContractOver, isCreditLow, isSpendingUnknown } from '#contract/reading.ts'
import type { Micros } from '#contract/spending/money.ts'
import { costWords } from '#contract/spending/spend-words.ts'
import type { AccountView, Place } from '#contract/state.ts'
import type { Alert } from './alert.ts'
import type { AlertedState } from './alerted.ts'
import { instanceWarnings } from './instance-warnings.ts'

/** The state alerted of for an instance that stays stopped after its rental, which may be learned after it was seen. */
const unstarted = 'rented unstarted'

type AlertedCredit = Pick<AlertedState, 'lowCredit' | 'belowZero'>

/** Low credit counts as recovered above this multiple of its threshold, so that it is not reported again and again. */
const forgetAbove = 1.2

/**
 * The alerts after a poll, given those sent before, and the new record of them. Without `alerted` it is the first poll
 * ever, which reports only what needs an answer. `at`: epoch seconds of the account's time.
 */
export function alerts(
  alerted: AlertedState | undefined,
  account: AccountView,
  settings: Settings,
  at: number,
): { alerts: Alert[]; alerted: AlertedState } {
  const credit = creditAlert(alerted, account, settings)
  const found: Alert[] = credit.alert ? [credit.alert] : []
  const instances: Record<string, string> = {}
  const untried: InstanceView[] = []
  for (const instance of Object.values(account.instances)) {
    const before = alerted?.instances[instance.id]
    const now = isRentedUnstarted(account, instance) ? unstarted : instance.state
    instances[instance.id] = now
    if (isTried(account, instance.id)) continue
    untried.push(instance)
    if (before === now) continue
    const known = before === unstarted ? undefined : (before as InstanceState | undefined)
    const alert =
      now === unstarted ? unstartedAlert(instance, account) : instanceAlert(known, instance, account)
    if (alert) found.push(alert)
  }
  const warnings = instanceWarnings(alerted ?? {}, untried, account, at)
  return {
    alerts: [...found, ...warnings.alerts],
    alerted: { ...credit.alerted, instances, ...warnings.alerted },
  }
}

/** Whether a rental with retries handles it, which drops the instance or reports itself that it is ready. */
function isTried({ rentals }: AccountView, id: number): boolean {
  return Object.values(rentals).some(rental => rental.retries && rental.instance === id && isRenting(rental))
}

/** The alert for credit that has become low, or has fallen below zero while something is charged. */
function creditAlert(
  before: AlertedCredit | undefined,
  account: AccountView,
  settings: Settings,
): { alert?: Alert; alerted: AlertedCredit } {
  const { credit } = account
  const { lowCredit = false, belowZero = false } = before ?? {}
  if (credit === undefined) return { alerted: { lowCredit, belowZero } }
  const alerted = {
    lowCredit: isCreditLow(account, settings, lowCredit ? forgetAbove : 1),
    belowZero: belowZero ? credit <= 0 : isChargedBelowZero(account),
  }
  const isNew = (alerted.lowCredit && !lowCredit) || (alerted.belowZero && !belowZero)
  return isNew ? { alert: lowCreditAlert(account, credit), alerted } : { alerted }
}

/** Whether something is charged that the credit no longer pays for, so that the service may delete it. */
function isChargedBelowZero({ credit = 0, instances }: AccountView): boolean {
  return credit < 0 && Object.values(instances).some(isCharged)
}

/** The alert for low credit. */
export function lowCreditAlert(account: AccountView, credit: Micros): Alert {
  return {
    id: `${account.id}/credit`,
    kind: 'lowCredit',
    title: credit > 0 ? `${money(credit)} of credit left` : `No credit left: ${money(credit)}`,
    body: lowCreditWords(account),
    urgency: 'critical',
    actions: [
      { id: 'top_up', label: 'Top up' },
      { id: 'show', label: 'Show instances' },
    ],
    place: { screen: 'instances' },
  }
}

function lowCreditWords(account: AccountView): string {
  const perHour = rate(account.spendPerHour)
  if (isChargedBelowZero(account))
    return `Your files may be deleted, and ${isSpendingUnknown(account) ? 'instances are still charged' : `${perHour} is still charged`}. Add credit, or destroy the instances that you don't need.`
  if (isSpendingUnknown(account))
    return 'The service doesn’t report all spending, so nobody knows how long it lasts.'
  const lasts = creditLasts(account)
  if (lasts === undefined) return 'Nothing runs now.'
  return lasts > 0
    ? `At ${perHour} the credit lasts ${duration(lasts)}.`
    : `It is used up, and ${perHour} are spent.`
}

/** The most alerts of one kind that come at once; more are one. */
const mostGoneAlerts = 5

/** The alerts for instances that are missing from the account, though Berth did not destroy them. */
export function goneAlerts(account: AccountView['id'], instances: readonly InstanceView[]): Alert[] {
  const alert = (id: string, title: string, body: string): Alert => ({
    id: `${account}/gone/${id}`,
    kind: 'hostGone',
    title,
    body,
    urgency: 'normal',
    actions: [],
    place: { screen: 'activity' },
  })
  if (instances.length > mostGoneAlerts)
    return [
      alert(
        'many',
        `${instances.length} instances are gone`,
        'They are no longer on the account: they were destroyed elsewhere, or the service removed them.',
      ),
    ]
  return instances.map(instance =>
    alert(
      String(instance.id),
      `${shortInstanceName(instance)} is gone`,
      'It is no longer on the account: it was destroyed elsewhere, or the service removed it. Its files are lost.',
    ),
  )
}

/** One id per instance, so that a later alert replaces the earlier one. */
function instanceAlertId(account: AccountView['id'], instance: number): string {
  return `${account}/${instance}`
}

function aboutInstance({ id, state }: InstanceView, account: AccountView) {
  return {
    id: instanceAlertId(account.id, id),
    instance: id,
    state,
    place: { screen: 'instances', instance: id } satisfies Place,
  }
}

/** The alert for a change of state, if it matters to the user. */
function instanceAlert(
  before: InstanceState | undefined,
  instance: InstanceView,
  account: AccountView,
): Alert | undefined {
  const name = shortInstanceName(instance)
  const base = aboutInstance(instance, account)
  switch (instance.state) {
    case 'running':
      if (before !== 'provisioning' && before !== 'loading' && before !== 'waiting') return undefined
      return {
        ...base,
        kind: 'ready',
        good: true,
        title: `${name} is ready`,
        body: instance.pricePerHour === undefined ? 'It runs.' : `It runs at ${rate(instance.pricePerHour)}.`,
        urgency: 'normal',
        actions: [
          { id: 'terminal', label: 'Terminal' },
          {
            id: 'stop',
            label: 'Stop',
            command: {
              name: 'actSoon',
              args: { account: account.id, instance: instance.id, action: 'stop' },
            },
          },
        ],
        place: { ...base.place, tab: 'terminal' },
      }
    case 'outbid':
      return {
        ...base,
        kind: 'outbid',
        title: `${name} was outbid`,
        body: `${bidSentence(instance)} It is stopped; its files are kept and the disk is charged.`,
        urgency: 'critical',
        actions: [
          { id: 'raise_bid', label: 'Raise bid' },
          { id: 'show', label: 'Show' },
        ],
      }
    case 'frozen':
      return {
        ...base,
        kind: 'halted',
        ...frozenWords(name, instance),
        urgency: 'normal',
        actions: showAlone,
      }
    case 'waiting':
      return { ...base, kind: 'halted', ...waitingWords(name), urgency: 'normal', actions: showAlone }
    case 'stopped':
    case 'ended': {
      const why = before === undefined ? undefined : stoppedByService(instance, account)
      if (why) return { ...base, kind: 'halted', title: `${name} was stopped`, ...why, urgency: 'critical' }
      // What was at rest before has not ended now.
      if (instance.state === 'stopped' || before === undefined || hasTrait(before, 'over')) return undefined
      return { ...base, kind: 'crashed', ...endedWords(name), urgency: 'critical', actions: showAlone }
    }
    case 'unstartable':
      return {
        ...base,
        kind: 'crashed',
        title: `${name} cannot start`,
        body: unstartableWords(instance),
        urgency: 'critical',
        actions: showAlone,
      }
    case 'crashed':
    case 'silent':
    case 'offline':
      return {
        ...base,
        kind: instance.state === 'crashed' ? 'crashed' : 'hostGone',
        title: `${name} ${deathOf[instance.state]}`,
        body: instance.state === 'crashed' ? crashAdvice : hostGoneAdvice(instance),
        urgency: 'critical',
        actions: [
          { id: 'try_another', label: 'Try another' },
          { id: 'show', label: 'Show' },
        ],
      }
    default:
      return undefined
  }
}

const crashAdvice =
  'Look at its log for the reason. Destroy it, since its disk keeps costing money, and try another offer.'

function hostGoneAdvice(instance: InstanceView): string {
  const why = instance.state === 'silent' ? 'Its host sends no heartbeat' : 'Its host is disconnected'
  if (!isCharged(instance))
    return `${why}, but may come back. Nothing is charged until then. If you can’t wait, try another offer.`
  return `${why}, but may come back. If you can’t wait, destroy it, since its disk keeps costing money, and try another offer.`
}

const deathOf = {
  crashed: 'has crashed',
  silent: 'is silent',
  offline: 'is offline',
} as const

function bidSentence({ minimumBid }: InstanceView): string {
  return minimumBid === undefined ? 'Someone bids more.' : `Someone bids ${rate(minimumBid)}.`
}

const showAlone: Alert['actions'] = [{ id: 'show', label: 'Show' }]

function endedWords(name: string): Pick<Alert, 'title' | 'body'> {
  return {
    title: `${name} has exited`,
    body: 'It was stopped elsewhere, or its container crashed: the service does not say which. Its log may. Its files are kept and the disk is charged; it can be started again.',
  }
}

function frozenWords(name: string, instance: InstanceView): Pick<Alert, 'title' | 'body'> {
  return {
    title: `${name} is frozen`,
    body: `Its GPUs are billed although nothing runs: ${costWords(instance)}. Resume or stop it.`,
  }
}

function waitingWords(name: string): Pick<Alert, 'title' | 'body'> {
  return {
    title: `${name} waits for a GPU`,
    body: 'Its GPU is probably rented to somebody else. It starts, and is charged, once the GPU is free. Keep waiting, cancel the start, rent another like it, or copy its data.',
  }
}

/** Whether it was rented without being started, and still is at rest. */
function isRentedUnstarted({ rentals }: AccountView, { id, state }: InstanceView): boolean {
  if (state !== 'stopped' && state !== 'ended') return false
  return Object.values(rentals).some(({ instance, problem }) => instance === id && problem?.code === 'no_gpu')
}

function unstartedAlert(instance: InstanceView, account: AccountView): Alert {
  return {
    ...aboutInstance(instance, account),
    kind: 'halted',
    title: `${shortInstanceName(instance)} is rented, but not started`,
    body: 'No GPU was free for it. Its disk is billed. Start it, or destroy it and try another offer.',
    urgency: 'critical',
    actions: showAlone,
  }
}

/** Why the service stopped an instance that Berth did not stop; undefined where unknown. */
function stoppedByService(
  instance: InstanceView,
  { credit }: AccountView,
): Pick<Alert, 'body' | 'actions'> | undefined {
  if (instance.asked?.state === 'stopped') return undefined
  if (isContractOver(instance, instance.history.at(-1)?.at ?? 0))
    return {
      body: 'Its contract has ended: it can’t start again, and its data may be deleted 48 hours later. Copy the files that you need.',
      actions: showAlone,
    }
  if (credit === undefined || credit > 0) return undefined
  return {
    body: 'The credit is used up. Its disk is still charged, and it may be deleted: top up to keep it.',
    actions: [{ id: 'top_up', label: 'Top up' }],
  }
}

function unstartableWords({ statusMessage }: InstanceView): string {
  const said = statusMessage === undefined ? '' : ` The service says: “${statusMessage}”.`
  return `Its container can’t be started.${said} Destroy it, since its disk keeps costing money, and rent with another image.`
}
