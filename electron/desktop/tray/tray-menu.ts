import type { CommandName } from '#contract/commands.ts'
import { demoEventWords } from '#contract/demo-events.ts'
import { bidsTooLow } from '#shared/automation/bid.ts'
import { dueNext, type LimitView, limitsSet } from '#shared/automation/limit.ts'
import { accountNow, canGetIn, isContractOver, isDead } from '#shared/derived.ts'
import { money } from '#shared/format/money.ts'
import { timeOfDay, weekdayAndTime } from '#shared/format/time.ts'
import type { InstanceView, UndoableAction } from '#shared/instance/instance.ts'
import { instanceLine, instanceTitle, word } from '#shared/instance/short-lines.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { type RentalView, rentedName } from '#shared/market/rental-view.ts'
import { lastSeenAt, outageWords } from '#shared/outage.ts'
import { lastRunFirst } from '#shared/project/project.ts'
import { quitQuestion } from '#shared/quit-question.ts'
import type { Micros } from '#shared/spending/money.ts'
import { hasAgents } from '#shared/spending/spender.ts'
import type { AccountView, ConnectionState, Place, SavedSearch, State } from '#shared/state.ts'
import { plainText, shortened } from '#shared/text.ts'
import { dueEntries } from './tray-due.ts'
import { creditLine, type MenuItemModel, spendLine, type TrayAction } from './tray-words.ts'

/** The most entries per account: a longer menu would not fit the screen. */
const mostInstances = 15
const mostSearches = 15
const mostProjects = 3

/**
 * The tray's menu for a State. `now` is this machine's time in epoch milliseconds, for contracts that end; `spentToday`:
 * micro-dollars of the shown account.
 */
export function trayMenu(state: State, now: number, spentToday?: Micros): MenuItemModel[] {
  const shown = state.shown === undefined ? undefined : state.accounts[state.shown]
  const others = Object.values(state.accounts).filter(account => account !== shown)
  return [
    ...(shown ? accountLines(shown, spentToday) : [{ label: 'No account yet' }]),
    ...Object.values(state.accounts).flatMap(undoEntries),
    ...(state.pausedUntil === undefined
      ? []
      : [{ label: `Monitoring is paused until ${timeOfDay(state.pausedUntil / 1000)}` }]),
    ...(shown ? accountEntries(shown, now) : []),
    ...others.flatMap(account => otherAccount(account, now)),
    { separator: true },
    ...dueEntries(shown ? [shown, ...others] : others),
    ...Object.values(state.accounts).flatMap(stopAgentsEntry),
    ...lastNotices(state),
    ...(shown ? projectEntries(shown, state.projects) : []),
    ...(shown ? rentEntries(shown, Object.values(state.savedSearches)) : []),
    ...(shown?.demo ? [demoEvents] : []),
    { separator: true },
    ...(shown ? [pauseEntry(state)] : []),
    { label: 'Open Berth', action: { kind: 'open' } },
    { label: quitQuestion(state) ? 'Quit Berth…' : 'Quit Berth', action: { kind: 'quit' } },
  ]
}

function accountLines(account: AccountView, spentToday: Micros | undefined): MenuItemModel[] {
  const today = spentToday ? `, ${money(spentToday)} today` : ''
  const lines = [creditLine(account), `${spendLine([account])}${today}`]
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

/** A separator, and the account's instances, those at rest last, and rentals; empty when it has none. */
function accountEntries(account: AccountView, now: number): MenuItemModel[] {
  const instances = Object.values(account.instances).sort(
    (a, b) => Number(hasTrait(a.state, 'halted')) - Number(hasTrait(b.state, 'halted')) || b.id - a.id,
  )
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
  if (canGetIn(instance))
    submenu.push(
      ...waysIn(account, instance, {
        terminal: at({ tab: 'terminal' }),
        files: at({ tab: 'files' }),
        ports: at({ tab: 'ports' }),
      }),
    )
  const hasExpired = isContractOver(instance, accountNow(account.clock, now))
  const power = powerEntry(account, instance, { raiseBid: at({ ask: 'bid' }), hasExpired })
  if (instance.state === 'crashed') submenu.push({ label: 'Log', action: at({ tab: 'logs' }) })
  if (power) submenu.push(power)
  if (isDead(instance)) submenu.push({ label: 'Move to another machine…', action: at({ ask: 'replace' }) })
  const due = dueNext(account).find(({ limit }) => limit.instance === instance.id)
  if (due) submenu.push({ label: 'Extend 1 h', action: extends1h(account, due.limit) })
  if (hasTrait(instance.state, 'gpusCharged') || hasTrait(instance.state, 'booting'))
    submenu.push({ label: 'Set a limit…', action: at({ ask: 'limit' }) })
  submenu.push({ label: 'Show', action: at({}) }, { separator: true })
  submenu.push({ label: 'Destroy…', action: at({ ask: 'destroy' }) })
  const ends = due && `${due.limit.action === 'stop' ? 'stops' : 'destroyed'} ${weekdayAndTime(due.dueAt)}`
  const window = account.maintenances?.[instance.id]
  const worked = window && `maintenance ${weekdayAndTime(window.from)}`
  const label = [instanceLine(account, instance), loadWords(instance), ends, worked]
    .filter(Boolean)
    .join(', ')
  return { label, submenu }
}

/** `idle`, `GPU 90%`: to tens, since each change of a menu closes it under the pointer. */
function loadWords({ state, gpuLoad }: InstanceView): string | undefined {
  if (state !== 'running' || gpuLoad === undefined) return undefined
  return gpuLoad < 5 ? 'idle' : `GPU ${Math.min(100, Math.max(10, Math.round(gpuLoad / 10) * 10))}%`
}

function extends1h({ id: account }: AccountView, { id: limit }: LimitView): TrayAction {
  return {
    kind: 'command',
    name: 'snoozeLimit',
    args: { account, limit, minutes: 60 },
    what: 'extend that limit',
  }
}

const mostNotices = 5

/** The last alerts, the newest first; each leads to what it is about. */
function lastNotices({ activity, accounts }: State): MenuItemModel[] {
  const alerts = Object.values(activity)
    .filter(({ kind, account }) => kind === 'alert' && (account === undefined || account in accounts))
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, mostNotices)
  if (alerts.length === 0) return []
  return [
    {
      label: 'Last notices',
      submenu: [
        ...alerts.map(({ at, text, account, instance }) => ({
          label: `${weekdayAndTime(at / 1000)}  ${shortened(plainText(text), longestNotice)}`,
          action: {
            kind: 'go' as const,
            ...(account !== undefined && { account }),
            place:
              instance !== undefined && accounts[account ?? '']?.instances[instance]
                ? { screen: 'instances' as const, instance }
                : { screen: 'activity' as const },
          },
        })),
        { separator: true },
        { label: 'All activity', action: { kind: 'go', place: { screen: 'activity' } } },
      ],
    },
  ]
}

/** Characters. */
const longestNotice = 60

/** Each is one click. Missing programs or settings are reported when it is tried. */
function waysIn(
  account: AccountView,
  instance: InstanceView,
  { terminal, files, ports }: Readonly<Record<'terminal' | 'files' | 'ports', TrayAction>>,
): MenuItemModel[] {
  const does = (name: CommandName, verb: string) => ({
    name,
    args: { account: account.id, instance: instance.id },
    what: `${verb} ${instanceTitle(instance)}`,
  })
  return [
    { label: 'Terminal', action: terminal },
    { label: 'Jupyter', action: { kind: 'command', ...does('openJupyter', 'open Jupyter on') } },
    { label: 'Editor', action: { kind: 'command', ...does('openEditor', 'open an editor on') } },
    { label: 'Files', action: files },
    { label: 'Ports', action: ports },
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
      label: 'Resume Berth',
      action: { kind: 'command', name: 'resumePolling', args: {}, what: 'resume polling' },
    }
  if (limitsSet(Object.values(accounts)).length > 0)
    return {
      label: 'Pause Berth for 1 h…',
      action: { kind: 'go', place: { screen: 'here', ask: 'pause' } },
    }
  return {
    label: 'Pause Berth for 1 h',
    action: { kind: 'command', name: 'pausePolling', args: { minutes: 60 }, what: 'pause' },
  }
}

/** At once, without a question: it loses nothing. */
function stopAgentsEntry(account: AccountView): MenuItemModel[] {
  if (!hasAgents(account)) return []
  const args = { account: account.id }
  const label = 'Stop all that agents rented'
  return [{ label, action: { kind: 'command', name: 'stopAgents', args, what: 'stop what agents rented' } }]
}

function go(account: AccountView, place: Place): TrayAction {
  return { kind: 'go', account: account.id, place }
}
