import { instanceMark, rentalWords, stateWords } from '#renderer/bridge/stateWords.ts'
import { isOf, needsNote } from '#renderer/features/instances/tunnelWords.ts'
import { nextLimit, type UpcomingEnd, upcomingEnds } from '#renderer/features/limits/upcomingEnds.ts'
import type { EndingView } from '#shared/automation/ending.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { limitsByBerth } from '#shared/automation/limit-words.ts'
import { isUnlimited } from '#shared/automation/limits-that-block.ts'
import { isProjectRun, type RunView } from '#shared/automation/run.ts'
import { knownCost } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { MaintenanceView } from '#shared/instance/maintenance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { TunnelView } from '#shared/instance/tunnel.ts'
import { placeText } from '#shared/market/place.ts'
import { isRenting, offerOf, type RentalView } from '#shared/market/rental-view.ts'
import type { Micros } from '#shared/spending/money.ts'
import type { PriceIncreaseView } from '#shared/spending/price-increase.ts'
import type { AccountView } from '#shared/state.ts'

/** One row: an instance, with the rental that made it, or a rental without an instance. */
export interface Row {
  key: string
  instance?: InstanceView
  rental?: RentalView
  /** A tunnel that is opening, lost for now, failed, or whose name the browser does not resolve. */
  tunnel?: TunnelView
  /** Its upcoming stops, the soonest first; absent without any. */
  stops?: readonly UpcomingEnd[]
  /** The limit that acts next, or waits to act. */
  limit?: LimitView
  /** How many of its own limits may still act, by Berth alone, whether they count now or not. */
  limitsByBerth?: number
  /** Whether it runs and nothing will stop it. */
  unlimited?: boolean
  /** Higher prices that the host asks for, or that the user has accepted. */
  increase?: PriceIncreaseView
  /** Maintenance that its host has announced. */
  maintenance?: MaintenanceView | undefined
  /** The instance that a recovery rented in its place. */
  replacedBy?: number
  /** A stop or destroy of it that no fresh reading shows yet. */
  ending?: EndingView
  /** Runs that wait for the instance, or that failed because their rental did. */
  runs?: readonly RunView[]
}

/** The row's runs that wait, or that failed before they had an instance, the oldest first. */
function runsOf({ instance, rental }: Row, runs: AccountView['runs']): RunView[] {
  const mine = (run: RunView) =>
    run.instance === undefined
      ? rental !== undefined && run.rental === rental.id
      : run.instance === instance?.id
  const shown = ({ step, startedAt, instance: on }: RunView) =>
    step === 'waiting' || (step === 'failed' && startedAt === undefined && on === undefined)
  return Object.values(runs)
    .filter(run => !isProjectRun(run) && shown(run) && mine(run))
    .sort((a, b) => a.createdAt - b.createdAt)
}

/**
 * The screen's rows: rentals without an instance first, then instances, each the newest first, whatever
 * their numbers.
 */
export function instanceRows(account: AccountView): Row[] {
  const byInstance = new Map<number, RentalView>()
  const rows: Row[] = []
  for (const rental of Object.values(account.rentals)) {
    if (rental.instance !== undefined && account.instances[rental.instance])
      byInstance.set(rental.instance, rental)
    else rows.push({ key: rental.id, rental })
  }
  rows.sort((a, b) => (b.rental?.startedAt ?? 0) - (a.rental?.startedAt ?? 0))
  const tunnels = Object.values(account.tunnels).filter(needsNote)
  const allLimits = Object.values(account.limits)
  const instances = Object.values(account.instances).sort((a, b) => madeAt(b) - madeAt(a) || b.id - a.id)
  for (const instance of instances) {
    const rental = byInstance.get(instance.id)
    const tunnel = tunnels.find(one => isOf(one, instance))
    const stops = upcomingEnds(account, instance)
    const increase = account.priceIncreases[instance.id]
    rows.push({
      key: String(instance.id),
      instance,
      rental,
      tunnel,
      stops: stops.length > 0 ? stops : undefined,
      limit: nextLimit(allLimits, instance),
      limitsByBerth: limitsByBerth(account, instance.id),
      unlimited: instance.state === 'running' && isUnlimited(account, instance.id) ? true : undefined,
      increase,
      maintenance: account.maintenances?.[instance.id],
      replacedBy: account.recoveries[instance.id]?.by,
      ending: account.endings[instance.id],
    })
  }
  return rows.map(row => {
    const runs = runsOf(row, account.runs)
    return runs.length === 0 ? row : { ...row, runs }
  })
}

/** The rows, of which those without a change keep their identity: then nothing of them is drawn again. */
export function keepUnchanged(rows: readonly Row[], before: readonly Row[]): Row[] {
  const rowByKey = new Map(before.map(row => [row.key, row]))
  return rows.map(row => {
    const earlier = rowByKey.get(row.key)
    return earlier && isAlike(earlier, row) ? earlier : row
  })
}

/** Whether two rows, or their parts, have the same fields; an instance and a limit have another identity once changed. */
function isAlike(a: unknown, b: unknown, depth = 3): boolean {
  if (Object.is(a, b)) return true
  if (depth === 0 || typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false
  const [left, right] = [Object.entries(a), b as Record<string, unknown>]
  return (
    left.length === Object.keys(b).length &&
    left.every(([key, value]) => isAlike(value, right[key], depth - 1))
  )
}

/** Epoch seconds; one whose start the service doesn't tell yet is the newest. */
function madeAt({ startedAt, history }: InstanceView): number {
  return startedAt ?? history[0]?.at ?? Number.MAX_VALUE
}

/** The row's state as a word and a shape. A rental under way takes precedence over its instance. */
export function rowState({ instance, rental, ending }: Row) {
  const isFirst = rental?.retries ? !instance || isRenting(rental) : instance?.state !== 'running'
  if (rental && isFirst) return rentalWords(rental)
  if (instance) return instanceMark(instance, ending)
  return stateWords('other', null)
}

/**
 * The row's present cost per hour; `title` has the price while it runs where that differs. Rows that are still booting
 * show the price they will have once they run.
 */
export function rowPrice({ instance, rental }: Row): { micros?: Micros; title?: string } {
  const running = instance?.pricePerHour ?? (rental && offerOf(rental))?.pricePerHour
  const starts = !instance || hasTrait(instance.state, 'booting')
  if (starts || instance.pricePerHour === undefined) return running === undefined ? {} : { micros: running }
  const now = knownCost(instance)
  return now === running
    ? { micros: now }
    : { micros: now, title: `${rate(instance.pricePerHour)} while it runs` }
}

/** The tooltip of an interruptible instance's price; undefined for one at a fixed price. */
export function bidWords({
  interruptible,
  bid,
  minimumBid,
}: Pick<InstanceView, 'interruptible' | 'bid' | 'minimumBid'>): { title: string } | undefined {
  if (!interruptible) return undefined
  const parts = [
    bid !== undefined && `Your bid: ${rate(bid)}`,
    minimumBid !== undefined && `lowest now: ${rate(minimumBid)}`,
  ].filter(Boolean)
  return { title: parts.length === 0 ? 'Rented with a bid' : parts.join(', ') }
}

/**
 * The rows in whose state, name, GPU, place, image, tags or note every typed word occurs; `idle` finds the instances
 * that it has minutes of.
 */
export function filterRows(
  rows: readonly Row[],
  typed: string,
  notes: AccountView['notes'] = {},
  idle?: ReadonlyMap<number, number>,
): readonly Row[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return rows
  return rows.filter(row => {
    const { instance, rental, unlimited } = row
    const offer = rental && offerOf(rental)
    const place = instance?.location ?? offer?.location
    const own = notes[instance?.id ?? '']
    const text = [
      rowState(row).word,
      instance && idle?.get(instance.id) ? 'idle' : undefined,
      own?.note,
      ...(own?.tags ?? []).flatMap(tag => [tag, `#${tag}`]),
      instance ? instanceName(instance) : rental?.label,
      instance?.gpu?.name ?? offer?.gpuName,
      unlimited ? 'no limit' : undefined,
      place === undefined ? undefined : placeText(place),
      instance?.image ?? (rental?.image || rental?.template),
    ]
      .join(' ')
      .toLowerCase()
    return words.every(word => text.includes(word))
  })
}

/** How many rows run, are on their way, and need the user (broken ones included). */
interface Counts {
  running: number
  onTheirWay: number
  needYou: number
}

/** Whether a row waits for the user: it was outbid, crashed, or has a question. */
export function needsYou(row: Row): boolean {
  const { shape } = rowState(row)
  return shape === 'needs-you' || shape === 'broken'
}

export function countsOf(rows: readonly Row[]): Counts {
  const shapes = rows.map(row => rowState(row).shape)
  const count = (...wanted: readonly string[]) => shapes.filter(shape => wanted.includes(shape)).length
  return { running: count('running'), onTheirWay: count('busy'), needYou: rows.filter(needsYou).length }
}

/** `2 running, 1 on its way`, without zeros; `urgentWords` has the rest, which is shown in bold. */
export function calmWords({ running, onTheirWay }: Counts): string {
  const parts = [running > 0 && `${running} running`, onTheirWay > 0 && `${onTheirWay} starting`]
  return parts.filter(Boolean).join(', ')
}

export function urgentWords({ needYou }: Counts): string {
  return needYou === 0 ? '' : `${needYou} ${needYou === 1 ? 'needs' : 'need'} you`
}

/**
 * The memory of all GPUs of a running instance in GB, and the used part, given in MiB, where it is known. Undefined
 * where the instance does not run or the service does not report its memory.
 */
export function vramOf(
  { state, gpu }: Pick<InstanceView, 'state' | 'gpu'>,
  usedMiB: number | undefined,
): { total: number; used?: number } | undefined {
  if (state !== 'running' || !gpu?.memory) return undefined
  const total = (gpu.memory * gpu.count) / 1024
  return usedMiB === undefined ? { total } : { total, used: Math.min(usedMiB / 1024, total) }
}
