import { type EndingView, endingWords } from '#shared/automation/ending.ts'
import { isOnTheMeter } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { count } from '#shared/format/size.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { stateWord } from '#shared/instance/instance-words.ts'
import type { RentalStep, RentalView } from '#shared/market/rental-view.ts'
import { outageWords } from '#shared/outage.ts'
import type { AccountView, ConnectionState } from '#shared/state.ts'

/** Running; running without work; on its way; at rest; needs you; broken, so that it will not run again. */
export type Shape = 'running' | 'idle' | 'busy' | 'stopped' | 'needs-you' | 'broken'

const shapes: Record<InstanceState, Shape> = {
  provisioning: 'busy',
  loading: 'busy',
  running: 'running',
  restarting: 'busy',
  frozen: 'needs-you',
  stopping: 'busy',
  stopped: 'stopped',
  waiting: 'needs-you',
  outbid: 'needs-you',
  exited: 'busy',
  ended: 'stopped',
  crashed: 'broken',
  unstartable: 'broken',
  silent: 'needs-you',
  offline: 'needs-you',
  destroying: 'busy',
  other: 'stopped',
}

/** An instance's state as a word and a shape; a stop or destroy that no fresh reading shows yet comes first. */
export function instanceMark(
  instance: InstanceView,
  ending: EndingView | undefined,
): { word: string; shape: Shape } {
  if (!ending) return stateWords(instance.state, instance.actualStatus)
  return { word: endingWords(ending), shape: ending.phase === 'requested' ? 'busy' : 'needs-you' }
}

/** A state as a word and a shape. */
export function stateWords(
  state: InstanceState,
  actualStatus: string | null,
): { word: string; shape: Shape } {
  return { word: stateWord(state, actualStatus), shape: shapes[state] }
}

const rentals: Record<RentalStep, { word: string; shape: Shape }> = {
  searching: { word: 'Renting', shape: 'busy' },
  asking: { word: 'Renting', shape: 'busy' },
  lost: { word: 'Renting', shape: 'busy' },
  unclear: { word: 'Unclear', shape: 'needs-you' },
  waiting: { word: 'Renting', shape: 'busy' },
  late: { word: 'Late', shape: 'needs-you' },
  entering: { word: 'Renting', shape: 'busy' },
  dropping: { word: 'Dropping', shape: 'busy' },
  ready: { word: 'Ready', shape: 'running' },
  failed: { word: 'Failed', shape: 'broken' },
  cancelled: { word: 'Cancelled', shape: 'stopped' },
}

/** The text for a rental without an answer while `hindrance` keeps Berth from checking; undefined otherwise. */
export function unknownRental(
  { step, instance }: Pick<RentalView, 'step' | 'instance'>,
  hindrance: string | undefined,
): string | undefined {
  const open = instance === undefined && (step === 'asking' || step === 'lost')
  return open && hindrance !== undefined
    ? `It’s unknown whether this was rented. Berth can’t check ${hindrance}.`
    : undefined
}

/** A rental's state as a word and a shape. */
export function rentalWords({ step, cancelling }: Pick<RentalView, 'step' | 'cancelling'>): {
  word: string
  shape: Shape
} {
  return cancelling && step !== 'unclear' ? { word: 'Cancelling', shape: 'busy' } : rentals[step]
}

/** How an account is reached, in a few words and a shape; `uncertain`: its list of instances is not certain. */
export function connectionWords(
  connection: ConnectionState,
  uncertain = false,
): { word: string; shape: Shape } {
  switch (connection.status) {
    case 'online':
      if (uncertain) return { word: 'List incomplete', shape: 'needs-you' }
      return { word: 'Online', shape: 'running' }
    case 'connecting':
      return { word: 'Connecting', shape: 'busy' }
    case 'offline':
      return { word: outageWords(connection), shape: 'needs-you' }
    case 'refused':
      return { word: 'Key refused', shape: 'needs-you' }
    case 'locked':
      return { word: 'Key missing', shape: 'needs-you' }
  }
}

/** What another account than the shown one does: `Can’t be reached, 3 running, $0.267/h`; empty where it does nothing. */
export function accountBriefly({ connection, instances, spendPerHour }: AccountView): string {
  const { word, shape } = connectionWords(connection)
  const running = Object.values(instances).filter(isOnTheMeter).length
  return [
    shape === 'needs-you' && word,
    running > 0 && `${running} running`,
    spendPerHour > 0 && rate(spendPerHour),
  ]
    .filter(Boolean)
    .join(', ')
}

/** Where a secret is kept, and how long, after `kept`: `keychainProblem` as State has it. */
export function keychainWords(keychainProblem: string | undefined): string {
  return keychainProblem ? 'in memory until you quit' : 'in the keychain'
}

/** The text for records left out of a list; `one`: the name of a single record. */
export function unreadWords(left: number, one: string): string {
  return left === 1
    ? `1 ${one} couldn’t be read and is left out.`
    : `${count(left)} ${one}s couldn’t be read and are left out.`
}
