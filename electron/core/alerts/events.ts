import type { CommandName } from '#contract/commands.ts'
import type { AlertKind } from '#shared/alert-kinds.ts'
import type { InstanceState, UndoableAction } from '#shared/instance/instance.ts'
import type { Place } from '#shared/state.ts'

/** Something the user should hear about. A later alert replaces the earlier one with the same id. */
export interface Alert extends Telling {
  id: string
  instance?: number | undefined
  /** The instance state it reports: the alert is over once the state is another. */
  state?: InstanceState
  /** What its machine was rented for together with others. */
  group?: string | undefined
  title: string
  body: string
}

/** How an event is reported, regardless of its words. */
interface Telling {
  /** The setting that switches its notification. */
  kind: AlertKind
  urgency: 'normal' | 'critical'
  /** Good news: it's green in Activity. */
  good?: true
  /** Its buttons. One with a command runs it; the others lead to where the question is answered. */
  actions: readonly AlertButton[]
  /** Where a click leads; of an instance's event, to that instance. */
  place: Place
  /** The screen that shows the same: no notification while it is before the user. */
  seenOn?: 'instances' | 'account'
  /** Only the first of a group is notified of, since Berth started; Activity has each. */
  oncePerGroup?: true
  /** It's about what its instance will do or cost, and over once that is destroyed. */
  untilGone?: true
}

export interface AlertButton {
  id: AlertAction | 'command' | `command-${string}`
  label: string
  /** Never one that spends or destroys, since a notification is easily clicked by mistake. */
  command?: { name: CommandName; args: unknown }
  /** Done to the alert's instance, with the question and the undo of its row: what spends is asked about or undone there. */
  act?: UndoableAction
}

export type AlertAction =
  | 'terminal'
  | 'rent'
  | 'stop'
  | 'raise_bid'
  | 'log'
  | 'restart'
  | 'move'
  | 'top_up'
  | 'show'

const show = { id: 'show', label: 'Show' } as const
const topUp = { id: 'top_up', label: 'Top up' } as const
const moveOn = { id: 'move', label: 'Move to another machine' } as const
const log = { id: 'log', label: 'Log' } as const
const restart = { id: 'restart', label: 'Restart', act: 'reboot' } as const
const instances = { screen: 'instances' } as const

const terminal = { screen: 'instances', tab: 'terminal' } as const
const automation = { screen: 'instances', tab: 'automation' } as const
const files = { screen: 'instances', tab: 'files' } as const

/** Told of an instance's state, which its row shows as well. */
const inRow = { actions: [show], place: instances, seenOn: 'instances' } as const

const limit = { kind: 'limit', actions: [show], place: automation } as const
const run = { kind: 'run', actions: [show], place: automation } as const

/** Every event that Berth reports unasked, and how. */
const events = {
  lowCredit: {
    kind: 'lowCredit',
    urgency: 'critical',
    actions: [topUp, { id: 'show', label: 'Show instances' }],
    place: instances,
    seenOn: 'account',
  },

  // Instances. Events named like a state are reported when it begins.
  running: {
    ...inRow,
    kind: 'ready',
    urgency: 'normal',
    good: true,
    actions: [{ id: 'terminal', label: 'Terminal' }],
    place: terminal,
  },
  rentedElsewhere: {
    kind: 'rentedElsewhere',
    urgency: 'normal',
    oncePerGroup: true,
    actions: [show],
    place: instances,
  },
  outbid: {
    ...inRow,
    kind: 'outbid',
    urgency: 'critical',
    actions: [{ id: 'raise_bid', label: 'Raise bid' }, show],
  },
  frozen: { ...inRow, kind: 'halted', urgency: 'normal' },
  waiting: { ...inRow, kind: 'halted', urgency: 'normal' },
  unstarted: { ...inRow, kind: 'halted', urgency: 'critical' },
  contractOver: { ...inRow, kind: 'halted', urgency: 'critical' },
  creditUsedUp: { ...inRow, kind: 'halted', urgency: 'critical', actions: [topUp] },
  ended: { ...inRow, kind: 'crashed', urgency: 'critical' },
  unstartable: { ...inRow, kind: 'crashed', urgency: 'critical' },
  crashed: { ...inRow, kind: 'crashed', urgency: 'critical', actions: [log, restart, moveOn] },
  silent: { ...inRow, kind: 'hostGone', urgency: 'critical', actions: [moveOn, show] },
  offline: { ...inRow, kind: 'hostGone', urgency: 'critical', actions: [moveOn, show] },
  gone: {
    kind: 'hostGone',
    urgency: 'normal',
    actions: [],
    place: { screen: 'activity' },
    seenOn: 'instances',
  },
  back: { ...inRow, kind: 'hostGone', urgency: 'normal', actions: [show] },
  contractEnd: { kind: 'contractEnd', urgency: 'critical', actions: [show], place: instances },
  maintenance: { kind: 'maintenance', urgency: 'critical', actions: [show], place: instances },
  diskFull: { kind: 'diskFull', urgency: 'critical', actions: [show], place: files },
  priceIncrease: { kind: 'priceIncrease', urgency: 'critical', actions: [show], place: instances },
  diskPrice: { kind: 'priceIncrease', urgency: 'critical', actions: [show], place: instances },

  // Rentals, recoveries of outbid instances, and watches for offers.
  rentalReady: {
    kind: 'attempts',
    urgency: 'normal',
    good: true,
    oncePerGroup: true,
    actions: [{ id: 'terminal', label: 'Terminal' }],
    place: terminal,
  },
  rentalFailed: { kind: 'attempts', urgency: 'critical', actions: [show], place: instances },
  rentalUnclear: { kind: 'attempts', urgency: 'critical', actions: [show], place: instances },
  recovered: { kind: 'recovery', urgency: 'normal', actions: [], place: instances },
  notRecovered: {
    kind: 'recovery',
    urgency: 'critical',
    actions: [{ id: 'raise_bid', label: 'Raise bid' }],
    place: instances,
  },
  offersFound: {
    kind: 'watch',
    urgency: 'normal',
    actions: [{ id: 'rent', label: 'Rent…' }],
    place: { screen: 'offers' },
  },
  watchDone: { kind: 'watch', urgency: 'normal', actions: [show], place: instances },

  // Limits; one that can be snoozed also has a button for it.
  limitDue: { ...limit, urgency: 'critical', untilGone: true },
  limitHeld: { ...limit, urgency: 'critical', untilGone: true },
  limitBlind: { ...limit, urgency: 'critical', untilGone: true },
  limitMissed: { ...limit, urgency: 'critical' },
  limitFailed: { ...limit, urgency: 'critical' },
  limitDone: { ...limit, urgency: 'normal' },
  budgetSpent: { ...limit, urgency: 'normal' },
  capReached: { ...limit, urgency: 'critical' },

  // A stop, destroy or deletion that no fresh reading shows after several requests, and one that was shown after that.
  notEnded: { kind: 'limit', urgency: 'critical', actions: [show], place: instances },
  notDeleted: { kind: 'limit', urgency: 'critical', actions: [], place: { screen: 'account' } },
  endedAfterAll: { kind: 'limit', urgency: 'normal', good: true, actions: [], place: { screen: 'activity' } },

  watchdogLate: { kind: 'limit', urgency: 'critical', actions: [show], place: instances },
  watchdog: { kind: 'limit', urgency: 'normal', actions: [show], place: instances },

  // Runs, and copies of the service.
  runDone: { ...run, urgency: 'normal', good: true },
  runEnded: { ...run, urgency: 'normal' },
  runFailed: { ...run, urgency: 'critical' },
  runHindered: { ...run, urgency: 'critical' },
  runStuck: { ...run, urgency: 'normal' },
  machineKept: { ...run, urgency: 'critical', untilGone: true },
  machineDestroyed: { ...run, urgency: 'normal' },
  transferFailed: { kind: 'run', urgency: 'critical', actions: [show], place: instances },
} as const satisfies Record<string, Telling>

export type EventName = keyof typeof events
export const eventNames = Object.keys(events) as EventName[]

/** An event's subject, in words. Given buttons and place override those of the table. */
type About = Pick<Alert, 'id' | 'instance' | 'title' | 'body'> &
  Partial<Pick<Alert, 'state' | 'group' | 'actions'>> & { place?: Place | undefined }

/** The alert of an event. */
export function alertOf(event: EventName, about: About): Alert {
  const telling: Telling = events[event]
  return { ...telling, ...about, place: about.place ?? placeOf(telling, about.instance) }
}

function placeOf({ place }: Telling, instance: number | undefined): Place {
  if (place.screen !== 'instances') return place
  return instance === undefined ? { screen: 'instances' } : { ...place, instance }
}
