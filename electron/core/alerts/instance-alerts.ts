import { isContractOver } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import {
  afterContract,
  costUntilDestroyed,
  creditUsedUp,
  stateNews,
  troubleWords,
} from '#shared/instance/instance-words.ts'
import { outbidAlert } from '#shared/instance/outbid-words.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { costWords } from '#shared/spending/spend-words.ts'
import type { AccountView } from '#shared/state.ts'
import { type Alert, alertOf, type EventName } from './events.ts'

/** The state alerted of for an instance that stays stopped after its rental, which may be learned after it was seen. */
export const unstarted = 'rented unstarted'

/** An instance's state, or that it was rented without being started and still is at rest. */
export function alertedState(
  { id, state }: InstanceView,
  { rentals }: AccountView,
): InstanceState | typeof unstarted {
  if (state !== 'stopped' && state !== 'ended') return state
  const waits = Object.values(rentals).some(
    ({ instance, problem }) => instance === id && problem?.code === 'no_gpu',
  )
  return waits ? unstarted : state
}

/** The alert for an instance whose state was `before` and is `now`, if that matters to the user. */
export function instanceAlert(
  before: InstanceState | undefined,
  now: InstanceState | typeof unstarted,
  instance: InstanceView,
  account: AccountView,
): Alert | undefined {
  const event = eventOf(before, now, instance, account)
  if (!event) return undefined
  const { id, state } = instance
  const name = shortInstanceName(instance)
  return alertOf(event, {
    // One id per instance, so that a later alert replaces the earlier one.
    id: `${account.id}/${id}`,
    instance: id,
    state,
    title: `${name} ${titles[event] ?? stateNews(state) ?? ''}`,
    body: bodyOf(event, instance),
    ...(event === 'running' && {
      actions: [
        { id: 'terminal', label: 'Terminal' },
        { id: 'stop', label: 'Stop', act: 'stop' },
      ],
    }),
  })
}

type InstanceEvent = Extract<InstanceState, EventName> | 'unstarted' | 'contractOver' | 'creditUsedUp'

function eventOf(
  before: InstanceState | undefined,
  now: InstanceState | typeof unstarted,
  instance: InstanceView,
  account: AccountView,
): InstanceEvent | undefined {
  switch (now) {
    case unstarted:
      return 'unstarted'
    case 'running':
      return before === 'provisioning' || before === 'loading' || before === 'waiting' ? now : undefined
    case 'stopped':
    case 'ended': {
      const why = before === undefined ? undefined : stoppedByService(instance, account)
      if (why) return why
      // An instance already at rest has not ended now.
      return now === 'stopped' || before === undefined || hasTrait(before, 'over') ? undefined : now
    }
    case 'outbid':
    case 'frozen':
    case 'waiting':
    case 'unstartable':
    case 'crashed':
    case 'silent':
    case 'offline':
      return now
    default:
      return undefined
  }
}

/** Why the service stopped an instance that Berth did not stop; undefined where unknown. */
function stoppedByService(
  instance: InstanceView,
  { credit }: AccountView,
): 'contractOver' | 'creditUsedUp' | undefined {
  if (instance.stateRequest?.state === 'stopped') return undefined
  if (isContractOver(instance, instance.history.at(-1)?.at ?? 0)) return 'contractOver'
  return credit === undefined || credit > 0 ? undefined : 'creditUsedUp'
}

/** The ends of titles that the state alone does not give. */
const titles: Partial<Record<InstanceEvent, string>> = {
  unstarted: 'is rented, but not started',
  contractOver: 'was stopped',
  creditUsedUp: 'was stopped',
}

/** The event in the words of the instance's row, and what to do about it. */
function bodyOf(event: InstanceEvent, instance: InstanceView): string {
  const trouble = troubleWords(instance) ?? ''
  switch (event) {
    case 'running':
      return instance.pricePerHour === undefined
        ? 'It runs.'
        : `It’s running at ${rate(instance.pricePerHour)}.`
    case 'outbid':
      return outbidAlert(instance)
    case 'frozen':
      return `${trouble} It costs ${costWords(instance)}. Resume or stop it.`
    case 'waiting':
      return `${trouble} Keep waiting, cancel the start, rent another like it, or copy its data.`
    case 'unstarted':
      return 'No GPU was free for it. Its disk is billed. Start it, or destroy it and try another offer.'
    case 'contractOver':
      return `Its contract has ended: ${afterContract}. Copy any files you need.`
    case 'creditUsedUp':
      return `${creditUsedUp} Top up to keep it.`
    case 'ended':
      return `${trouble} Its log may say more. Its files are kept and its disk is billed. You can start it again.`
    case 'unstartable':
      return `${trouble} ${costUntilDestroyed(instance)} Destroy it, and rent with another image.`
    case 'crashed':
      return `${trouble} ${costUntilDestroyed(instance)} Open its log for the reason, restart it, or move to another machine.`
    case 'silent':
    case 'offline':
      return `${trouble} ${costUntilDestroyed(instance)} If you can’t wait, move to another machine.`
  }
}

/** The id of the alert that an instance is gone; of more at once, `many`. */
export const goneId = (account: AccountView['id'], which: number | 'many') => `${account}/gone/${which}`

/** The alert for an instance that was reported as gone, and is listed again. */
export function backAlert(account: AccountView['id'], instance: InstanceView): Alert {
  return alertOf('back', {
    id: `${account}/${instance.id}/back`,
    instance: instance.id,
    title: `${shortInstanceName(instance)} is back`,
    body: 'The service lists it again, so it wasn’t gone. Its limits are on again, and its time since then counts.',
  })
}

/** The most alerts of one kind that come at once; more are one. */
const mostGoneAlerts = 5

/** The alerts for instances that are missing from the account, though Berth did not destroy them. */
export function goneAlerts(account: AccountView['id'], instances: readonly InstanceView[]): Alert[] {
  const gone = (which: number | 'many', title: string, body: string) =>
    alertOf('gone', { id: goneId(account, which), title, body })
  if (instances.length > mostGoneAlerts)
    return [
      gone(
        'many',
        `${instances.length} instances are gone`,
        'They are no longer on the account: they were destroyed elsewhere, or the service removed them.',
      ),
    ]
  return instances.map(instance =>
    gone(
      instance.id,
      `${shortInstanceName(instance)} is gone`,
      'It is no longer on the account: it was destroyed elsewhere, or the service removed it. Its files are lost.',
    ),
  )
}
