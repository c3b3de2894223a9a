import type { TrayImageSize, TrayState, TrayTone } from '#platform/tray-images.ts'
import { isCreditLow, isDead, isOnTheMeter } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { timeOfDay } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { instanceTitle, stateOf, word } from '#shared/instance/short-lines.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { isRenting, type RentalView, rentedName } from '#shared/market/rental-view.ts'
import { outageWords } from '#shared/outage.ts'
import type { AccountView, State } from '#shared/state.ts'
import { spendLine } from './tray-words.ts'

/** The tray's appearance while its menu is closed. */
export interface TrayStatus {
  state: TrayState
  tooltip: string
  /** Text next to the icon, on macOS; may be empty. */
  title: string
}

/** Characters; Windows shows no more. */
const longestTooltip = 120

/** The status for a State. Matters for the user come before outages, and these before running work. */
export function trayStatus(state: State): TrayStatus {
  const accounts = Object.values(state.accounts)
  const instances = accounts.flatMap(account => Object.values(account.instances))
  const running = instances.filter(isOnTheMeter).length
  const perHour = accounts.reduce((sum, account) => sum + account.spendPerHour, 0)
  const matters = accounts.flatMap(account => mattersOf(account, state))
  const unseen = unseenOf(accounts, state.pausedUntil)
  const [first] = [...matters, ...unseen]
  const more = matters.length + unseen.length - 1
  const lines = [
    `Berth: ${spendLine(accounts).replace('Nothing', 'nothing')}`,
    ...(first === undefined ? [] : [more > 0 ? `${first}, and ${more} more` : first]),
  ]
  const title = [...(running > 0 ? [String(running)] : []), ...(perHour > 0 ? [rate(perHour)] : [])]
  return {
    state:
      matters.length > 0
        ? 'attention'
        : unseen.length > 0
          ? 'offline'
          : accounts.some(isBusy)
            ? 'working'
            : 'calm',
    tooltip: lines.join('\n').slice(0, longestTooltip),
    title: title.join(' · '),
  }
}

/** An account's matters that need the user, in a few words each. */
function mattersOf(account: AccountView, { settings }: State): string[] {
  const { connection } = account
  const refused = connection.status === 'refused' || connection.status === 'locked'
  const inNeed = Object.values(account.instances).filter(
    instance =>
      (account.endings[instance.id]?.phase ?? 'requested') !== 'requested' ||
      isDead(instance) ||
      instance.state === 'outbid' ||
      instance.state === 'waiting',
  )
  const stuck = Object.values(account.rentals).filter(isStuck)
  return [
    ...(refused ? [`${word(account.name)} needs its key`] : []),
    ...inNeed.map(instance => `${instanceTitle(instance)}: ${stateOf(account, instance)}`),
    ...stuck.map(rental => `Renting ${word(rentedName(rental))}: ${rental.step}`),
    ...(isCreditLow(account, settings) ? [`${word(account.name)}: low credit`] : []),
  ]
}

function isStuck({ step }: Pick<RentalView, 'step'>): boolean {
  return step === 'late' || step === 'unclear'
}

/** Why the data may be outdated. */
function unseenOf(accounts: readonly AccountView[], pausedUntil: number | undefined): string[] {
  if (pausedUntil !== undefined) return [`Paused until ${timeOfDay(pausedUntil / 1000)}`]
  return accounts.flatMap(({ name, connection }) => {
    if (connection.status !== 'offline') return []
    const since = connection.since === undefined ? '' : `, as of ${timeOfDay(connection.since)}`
    return `${word(name)}: ${outageWords(connection)}${since}`
  })
}

function isBusy({ instances, rentals }: AccountView): boolean {
  const isMoving = ({ state }: InstanceView) => !hasTrait(state, 'diskOnly') && !hasTrait(state, 'dead')
  return (
    Object.values(instances).some(isMoving) ||
    Object.values(rentals).some(rental => isRenting(rental) && !isStuck(rental))
  )
}

/** How the desktop draws its tray. */
export interface TrayDesktop {
  platform: NodeJS.Platform
  /** `XDG_CURRENT_DESKTOP`: names with colons between them. */
  desktop?: string
  /** Whether the system's bars are dark, if the system says. */
  dark: boolean
}

/** The image's tone for the bar. GNOME's bar is dark in every theme. */
export function trayTone({ platform, desktop = '', dark }: TrayDesktop): TrayTone {
  if (platform === 'darwin') return 'template'
  const darkBar = platform === 'linux' && /\b(GNOME|Unity|Pantheon)\b/i.test(desktop)
  return dark || darkBar ? 'light' : 'dark'
}

/** Points. KDE's panel has 22, other Linux panels 24. */
export function traySize({ platform, desktop = '' }: TrayDesktop): TrayImageSize['size'] {
  if (platform !== 'linux') return 16
  return /\bKDE\b/i.test(desktop) ? 22 : 24
}
