import type { CommandName } from '#contract/commands.ts'
import { demoEventWords } from '#contract/demo-events.ts'
import { bidsTooLow } from '#shared/automation/bid.ts'
import { limitsSet } from '#shared/automation/limit.ts'
import { accountNow, canGetIn, isContractOver, isDead } from '#shared/derived.ts'
import { timeOfDay } from '#shared/format/time.ts'
import type { InstanceView, UndoableAction } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { type RentalView, rentedName } from '#shared/market/rental-view.ts'
import { lastSeenAt, outageWords } from '#shared/outage.ts'
import { lastRunFirst } from '#shared/project/project.ts'
import type { AccountView, ConnectionState, Place, SavedSearch, State } from '#shared/state.ts'
import { dueEntries } from './tray-due.ts'
import {
  creditLine,
  instanceLine,
  instanceTitle,
  type MenuItemModel,
  spendLine,
  type TrayAction,
  word,
} from './tray-words.ts'

/** The most entries per account: a longer menu would not fit the screen. */
const mostInstances = 15
const mostSearches = 15
const mostProjects = 3

/** The tray's menu for a State. `now` is this machine's time in epoch milliseconds, for contracts that end. */
export function trayMenu(state: State, now: number): MenuItemModel[] {
  const shown = state.shown === undefined ? undefined : state.accounts[state.shown]
  const others = Object.values(state.accounts).filter(account => account !== shown)
  return [
    ...(shown ? accountLines(shown) : [{ label: 'No account yet' }]),
    ...Object.values(state.accounts).flatMap(undoEntries),
    ...(state.pausedUntil === undefined
      ? []
      : [{ label: `Monitoring is paused until ${timeOfDay(state.pausedUntil / 1000)}` }]),
    ...(shown ? accountEntries(shown, now) : []),
    ...others.flatMap(account => otherAccount(account, now)),
    { separator: true },
    ...dueEntries(shown ? [shown, ...others] : others),
    ...(shown ? projectEntries(shown, state.projects) : []),
    ...(shown ? rentEntries(shown, Object.values(state.savedSearches)) : []),
    ...(shown?.demo ? [demoEvents] : []),
    { separator: true },
    ...(shown ? [pauseEntry(state)] : []),
    { label: 'Open Berth', action: { kind: 'open' } },
    { label: 'Quit Berth', action: { kind: 'quit' } },
  ]
}

function accountLines(account: AccountView): MenuItemModel[] {
  const lines = [creditLine(account), spendLine([account])]
  if (account.demo) lines.unshift('Demo: nothing here costs money')
  if (account.connection.status !== 'online') lines.push(unseenLine(account.connection))
  return lines.map(label => ({ label }))
}

/** Of each action that is not sent yet. */
function undoEntries(account: AccountView): MenuItemModel[] {
  return Object.keys(account.undoable).flatMap(id => undoEntry(account, account.instances[id]) ?? [])
}

function undoEntry(account: AccountView, instance: InstanceView | undefined): MenuItemModel | undefined {
  const waiting = instance && account.undoable[instance.id]
  if (!waiting) return undefined
  const what = `undo the ${waiting.action} of ${instanceTitle(instance)}`
  const args = { account: account.id, instance: instance.id }
  return {
    label: what.charAt(0).toUpperCase() + what.slice(1),
    action: { kind: 'command', name: 'undoAction', args, what },
  }
}

/** `Service fails (500), as of 14:02` */
function unseenLine(connection: ConnectionState): string {
  const since = lastSeenAt(connection)
  const why = connection.status === 'offline' ? outageWords(connection) : unseenWords[connection.status]
  return since === undefined ? why : `${why}, as of ${timeOfDay(since)}`
}

const unseenWords = {
  online: 'Online',
  connecting: 'Connecting…',
  refused: 'The API key was refused',
  locked: 'The API key is missing',
} as const

function otherAccount(account: AccountView, now: number): MenuItemModel[] {
  const entries = accountEntries(account, now)
  return entries.length === 0 ? [] : [{ separator: true }, { label: word(account.name) }, ...entries.slice(1)]
}

/** A separator, and the account's instances and rentals; empty when it has none. */
function accountEntries(account: AccountView, now: number): MenuItemModel[] {
  const instances = Object.values(account.instances).sort((a, b) => b.id - a.id)
  const rentals = Object.values(account.rentals).filter(rental => rental.instance === undefined)
  if (instances.length === 0 && rentals.length === 0) return []
  const more = instances.length - mostInstances
  return [
    { separator: true },
    ...rentals.map(rental => ({
      label: rentalLine(rental),
      action: go(account, { screen: 'instances' }),
    })),
    ...instances.slice(0, mostInstances).map(instance => instanceEntry(account, instance, now)),
    ...(more > 0 ? [{ label: `${more} more…`, action: go(account, { screen: 'instances' }) }] : []),
  ]
}

/** A failed rental stays until the user has read why. */
function rentalLine(rental: RentalView): string {
  const name = word(rentedName(rental))
  return rental.step === 'failed' ? `Could not rent ${name}` : `Renting ${name}…`
}

function instanceEntry(account: AccountView, instance: InstanceView, now: number): MenuItemModel {
  const at = (place: Partial<Place & { screen: 'instances' }>) =>
    go(account, { screen: 'instances', instance: instance.id, ...place })
  const submenu: MenuItemModel[] = []
  if (canGetIn(instance)) submenu.push(...waysIn(account, instance, at({ tab: 'terminal' })))
  const hasExpired = isContractOver(instance, accountNow(account.clock, now))
  const power = powerEntry(account, instance, { raiseBid: at({ ask: 'bid' }), hasExpired })
  if (instance.state === 'crashed') submenu.push({ label: 'Log', action: at({ tab: 'logs' }) })
  if (power) submenu.push(power)
  if (isDead(instance)) submenu.push({ label: 'Move to another machine…', action: at({ ask: 'replace' }) })
  submenu.push({ label: 'Show', action: at({}) }, { separator: true })
  submenu.push({ label: 'Destroy…', action: at({ ask: 'destroy' }) })
  return { label: instanceLine(account, instance), submenu }
}

/** Each is one click. Missing programs or settings are reported when it is tried. */
function waysIn(account: AccountView, instance: InstanceView, terminal: TrayAction): MenuItemModel[] {
  const does = (name: CommandName, verb: string) => ({
    name,
    args: { account: account.id, instance: instance.id },
    what: `${verb} ${instanceTitle(instance)}`,
  })
  return [
    { label: 'Terminal', action: terminal },
    { label: 'Jupyter', action: { kind: 'command', ...does('openJupyter', 'open Jupyter on') } },
    { label: 'Editor', action: { kind: 'command', ...does('openEditor', 'open an editor on') } },
    {
      label: 'Copy SSH command',
      action: { kind: 'copy', ...does('sshCommand', 'copy the SSH command of') },
    },
    { separator: true },
  ]
}

/**
 * Undo, Stop, Start, Restart, or Raise bid: what bids too little, outbid or stopped, runs again only at a higher bid. Undefined after
 * its contract ended, when nothing can start it.
 */
function powerEntry(
  account: AccountView,
  instance: InstanceView,
  { raiseBid, hasExpired }: { raiseBid: TrayAction; hasExpired: boolean },
): MenuItemModel | undefined {
  const undo = undoEntry(account, instance)
  if (undo) return undo
  const { state } = instance
  if (hasTrait(state, 'stoppable') || hasTrait(state, 'booting'))
    return { label: 'Stop', action: acts('stop', account, instance) }
  if (state === 'crashed') return { label: 'Restart', action: acts('reboot', account, instance) }
  if (hasExpired || !(state === 'outbid' || hasTrait(state, 'startable'))) return undefined
  if (state === 'outbid' || bidsTooLow(instance)) return { label: 'Raise bid…', action: raiseBid }
  return { label: 'Start', action: acts('start', account, instance) }
}

function acts(action: UndoableAction, { id: account }: AccountView, instance: InstanceView): TrayAction {
  const what = `${action} ${instanceTitle(instance)}`
  return { kind: 'act', action, account, instance: instance.id, what }
}

/** The last rental again, as a dialog to review, and the market, whole or by a saved search. */
function rentEntries(account: AccountView, saved: readonly SavedSearch[]): MenuItemModel[] {
  const last = account.pastRentals?.[0]
  const searches = saved.toSorted((a, b) => a.name.localeCompare(b.name)).slice(0, mostSearches)
  return [
    ...(last
      ? [
          {
            label: `Rent ${word(last.what)} again…`,
            action: go(account, { screen: 'offers', again: last.id }),
          },
        ]
      : []),
    { label: 'Rent a GPU…', action: go(account, { screen: 'offers' }) },
    ...(searches.length > 0
      ? [
          {
            label: 'Saved searches',
            submenu: searches.map(({ name, query }) => ({
              label: word(name),
              action: go(account, { screen: 'offers', search: query }),
            })),
          },
        ]
      : []),
  ]
}

/** The projects run last; each entry asks before it runs one. */
function projectEntries(account: AccountView, projects: State['projects']): MenuItemModel[] {
  return lastRunFirst(Object.values(projects), account.runs)
    .slice(0, mostProjects)
    .map(({ id, name }) => ({
      label: `Run ${word(name)}…`,
      action: go(account, { screen: 'projects', project: id, ask: 'run' }),
    }))
}

const demoEvents: MenuItemModel = {
  label: 'Simulate an event',
  submenu: demoEventWords.map(({ event, label }) => ({
    label,
    action: { kind: 'command', name: 'demoEvent', args: { event }, what: 'simulate the event' },
  })),
}

/** Limits do not act during a pause: if any are set, the entry opens a dialog that names them. */
function pauseEntry({ pausedUntil, accounts }: State): MenuItemModel {
  if (pausedUntil !== undefined)
    return {
      label: 'Resume polling',
      action: { kind: 'command', name: 'resumePolling', args: {}, what: 'resume polling' },
    }
  if (limitsSet(Object.values(accounts)).length > 0)
    return {
      label: 'Pause polling for an hour…',
      action: { kind: 'go', place: { screen: 'here', ask: 'pause' } },
    }
  return {
    label: 'Pause polling for an hour',
    action: { kind: 'command', name: 'pausePolling', args: { minutes: 60 }, what: 'pause' },
  }
}

function go(account: AccountView, place: Place): TrayAction {
  return { kind: 'go', account: account.id, place }
}
