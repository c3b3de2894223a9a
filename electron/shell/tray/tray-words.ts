import type { InstanceState, InstanceView } from '../../contract/instance/instance.ts'
import { creditLasts } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'
import type { AccountView } from '../../contract/state.ts'

/** Characters of a name that a menu shows. */
const longest = 32

/** Text from outside, as a menu may show it: one short line. */
export function word(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return [...line].length > longest ? `${[...line].slice(0, longest - 1).join('')}…` : line
}

/** `Credit $48.20, lasts 17 h`, `Credit −$7.43, used up`; `Credit $48.20 as of 13:05, …` where the service does not tell it now. */
export function creditLine(account: AccountView): string {
  if (account.credit === undefined) return 'Credit not known yet'
  const lasts = creditLasts(account)
  const left = lasts === undefined ? '' : lasts > 0 ? `, lasts ${lasting(lasts)}` : ', used up'
  const asOf = account.creditAt === undefined ? '' : ` as of ${timeOfDay(account.creditAt * 1000)}`
  return `Credit ${dollars(account.credit)}${asOf}${left}`
}

/** `2 running, $1.24/h` */
export function spendLine(perHour: Micros, running: number): string {
  return `${running === 0 ? 'nothing runs' : `${running} running`}, ${dollars(perHour)}/h`
}

/** `llama-finetune #4711` */
export function instanceTitle({ id, label, gpu }: InstanceView): string {
  return `${word(label || gpu?.name || 'Instance')} #${id}`
}

/** `llama-finetune #4711: Running, $0.41/h` */
export function instanceLine(instance: InstanceView): string {
  return `${instanceTitle(instance)}: ${stateWord(instance)}, ${dollars(instance.costPerHour)}/h`
}

const stateWords: Record<Exclude<InstanceState, 'other'>, string> = {
  provisioning: 'Starting',
  loading: 'Loading',
  running: 'Running',
  restarting: 'Restarting',
  stopping: 'Stopping',
  stopped: 'Stopped',
  waiting: 'Waiting for a GPU',
  outbid: 'Outbid',
  exited: 'Exited, may restart',
  crashed: 'Crashed',
  unstartable: 'Cannot start',
  silent: 'Silent',
  offline: 'Offline',
  destroying: 'Being destroyed',
}

export function stateWord({ state, actualStatus }: InstanceView): string {
  return state === 'other' ? word(actualStatus ?? 'Unknown') : stateWords[state]
}

/** `$1.24/h` */
export function rateWords(perHour: Micros): string {
  return `${dollars(perHour)}/h`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** `14:02`; epoch milliseconds of this machine. */
export function timeOfDay(at: number): string {
  return clock.format(at)
}

/** Cents as far as they tell something: `$0.006` is more than `$0.01`. */
function dollars(amount: Micros): string {
  const small = amount !== 0 && Math.abs(amount) < 100_000
  const figure = (Math.abs(amount) / 1_000_000).toFixed(small ? 3 : 2)
  return `${amount < 0 ? '−' : ''}$${figure}`
}

/** Rounded down to what matters, so that the menu is not another one every minute: `3 days`, `17 h`, `25 min`. */
function lasting(seconds: number): string {
  const hours = Math.floor(seconds / 3600)
  if (hours >= 48) return `${Math.floor(hours / 24)} days`
  if (hours >= 1) return `${hours} h`
  return `${Math.floor(seconds / 300) * 5} min`
}
