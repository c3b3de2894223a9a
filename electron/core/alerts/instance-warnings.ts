import { contractEndsIn, diskNearlyFull, diskUse } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import { shortInstanceName } from '#shared/format/name.ts'
import { atMoment } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { afterContract } from '#shared/instance/instance-words.ts'
import { maintenanceWords } from '#shared/instance/maintenance.ts'
import { micros } from '#shared/spending/money.ts'
import { increasedRate } from '#shared/spending/price-increase.ts'
import type { AccountView } from '#shared/state.ts'
import { type Alert, alertOf, type EventName } from './events.ts'

/** An instance at a poll. `at`: epoch seconds of the account's time. */
interface Scene {
  instance: InstanceView
  account: Pick<AccountView, 'id' | 'priceIncreases' | 'maintenances' | 'recoveries'>
  at: number
}

/** A warning about an instance, apart from its state. It's sent once for each thing it is about. */
interface Warning {
  /** The end of its id: warnings have separate ones, so that they don't replace alerts about the instance's state. */
  id: string
  /**
   * What it is about now, which is remembered: a moment, a price or a share. Undefined for nothing. `before`: what was
   * remembered, from which a value that varies a little doesn't differ.
   */
  about(scene: Scene, before: number | undefined): number | undefined
  /** Whether that is worth a warning; by default where it isn't what was remembered. */
  isNews?(now: number, before: number | undefined, scene: Scene): boolean
  words(scene: Scene, now: number, before: number | undefined): Pick<Alert, 'title' | 'body'>
  /** Whether it still applies, given what is remembered. */
  holds(now: number | undefined, instance: number, account: AccountView): boolean
}

/** A full disk counts as relieved below this share, so that fluctuations do not repeat the warning. */
const diskRelieved = 0.85
/** A price is reported once it is above the known one by this factor: one agreed to may lack a part of the disk's. */
const dearer = 1.05
/** Micro-dollars per hour by which a disk's price rises at least: less is not worth a word. */
const leastRise = 1000
/** Seconds by which a contract's end, or a window's start, may vary and still be the same one. */
const sameEnd = 3600

const isSame = (moment: number | undefined, other: number | undefined) =>
  moment !== undefined && !(other !== undefined && Math.abs(moment - other) > sameEnd)

const warnings = {
  contractEnd: {
    id: 'contractEnd',
    about({ instance, account, at }, before) {
      if (isSame(before, instance.endsAt)) return before
      const isAccepted = account.priceIncreases[instance.id]?.accepted !== undefined
      return contractEndsIn(instance, at) === undefined || isAccepted ? undefined : instance.endsAt
    },
    words({ instance, account, at }, end) {
      const advice = account.priceIncreases[instance.id]
        ? 'To keep it, accept its host’s new prices. Otherwise copy any files you need.'
        : 'Copy any files you need.'
      return {
        title: `The contract of ${shortInstanceName(instance)} ends ${atMoment(end, at)}`,
        body: `Then it stops: ${afterContract}. ${advice}`,
      }
    },
    holds: end => end !== undefined,
  },
  maintenance: {
    id: 'maintenance',
    about({ instance, account }, before) {
      const window = account.maintenances?.[instance.id]
      return !window || isSame(before, window.from) ? before : window.from
    },
    words({ instance, account, at }, from) {
      const window = account.maintenances?.[instance.id] ?? { from, until: from }
      return {
        title: `Maintenance of ${shortInstanceName(instance)} ${from > at ? atMoment(from, at) : 'goes on'}`,
        body: `${maintenanceWords(window, at)} Copy any files you need, or move its run to another machine before.`,
      }
    },
    holds: (_, instance, { maintenances }) => maintenances?.[instance] !== undefined,
  },
  /** What it is about is the price to compare the next ones with: agreed to, seen first, or reported since. */
  priceIncrease: {
    id: 'price',
    about({ instance, account }, before) {
      const price = priceToKnow(before ?? instance.agreedPrice, instance, account)
      const increase = account.priceIncreases[instance.id]
      // One that was accepted is no surprise once it applies, and then it's listed no more.
      const accepted = increase?.accepted ? increasedRate(increase, instance)?.after : undefined
      return price === undefined ? undefined : Math.max(price, accepted ?? 0)
    },
    isNews(price, before, { instance, account }) {
      const known = before ?? instance.agreedPrice
      return known !== undefined && price > known && !account.priceIncreases[instance.id]?.accepted
    },
    words: ({ instance }, price, before) => ({
      title: `${shortInstanceName(instance)} now costs ${rate(price)}`,
      body:
        `It was ${rate(before ?? instance.agreedPrice ?? 0)}. Limits in dollars count what it costs now. ` +
        'A limit in hours lets it cost more than before.',
    }),
    holds: () => true,
  },
  /** The price of a disk, which is all that one costs which doesn't run. */
  diskPrice: {
    id: 'diskPrice',
    about: ({ instance: { diskPricePerHour: price = 0 } }, before) =>
      price > 0 && (before === undefined || price > before * dearer + leastRise) ? price : before,
    isNews: (price, before, { instance }) =>
      before !== undefined && price > before && instance.state !== 'running',
    words: ({ instance }, price, before = 0) => ({
      title: `The disk of ${shortInstanceName(instance)} now costs ${rate(price)}`,
      body: `It was ${rate(before)}. It’s billed until you destroy the instance.`,
    }),
    holds: () => true,
  },
  diskFull: {
    id: 'diskFull',
    about({ instance }, before) {
      const use = diskUse(instance)
      if (use === undefined) return before
      return use >= (before === undefined ? diskNearlyFull : diskRelieved) ? (before ?? use) : undefined
    },
    words: ({ instance }, use) => ({
      title: `The disk of ${shortInstanceName(instance)} is ${Math.floor(use * 100)}% full`,
      body: 'Programs that write to a full disk fail, and the disk can’t grow: delete files, or copy them elsewhere.',
    }),
    holds: use => use !== undefined,
  },
} as const satisfies Partial<Record<EventName, Warning>>

const table: readonly (readonly [keyof typeof warnings, Warning])[] = Object.entries(warnings) as [
  keyof typeof warnings,
  Warning,
][]

/** What warnings were about, by their event and instance. */
export type Warned = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The warnings after a poll, and what they are all about then, in the form that is stored. */
export function warningsAfterPoll(
  warned: Warned,
  instances: readonly InstanceView[],
  { account, at }: Omit<Scene, 'instance'>,
): { alerts: Alert[]; warned: Warned } {
  const alerts: Alert[] = []
  const after: Record<string, Record<string, number>> = {}
  for (const instance of instances)
    for (const [event, { id, about, isNews, words }] of table) {
      const scene = { instance, account, at }
      const before = warned[event]?.[instance.id]
      const now = about(scene, before)
      if (now === undefined) continue
      after[event] ??= {}
      after[event][instance.id] = now
      if (isNews ? !isNews(now, before, scene) : now === before) continue
      const subject = { id: `${account.id}/${instance.id}/${id}`, instance: instance.id }
      alerts.push(alertOf(event, { ...subject, ...words(scene, now, before) }))
    }
  return { alerts, warned: after }
}

/** Whether a warning still applies; true for other alerts. */
export function warningHolds({ kind, instance = 0 }: Alert, warned: Warned, account: AccountView): boolean {
  const warning = table.find(([event]) => event === kind)?.[1]
  return warning?.holds(warned[kind]?.[instance], instance, account) ?? true
}

/**
 * The price to compare the next ones with. A bid is the user's own, up to what Berth may raise it to; and what doesn't run says
 * little of its price.
 */
function priceToKnow(
  known: number | undefined,
  { id, state, interruptible, bid = 0, pricePerHour = 0 }: InstanceView,
  { recoveries }: Pick<AccountView, 'recoveries'>,
): number | undefined {
  if (state !== 'running' || pricePerHour <= 0) return known
  const { choice } = recoveries[id] ?? {}
  const bounded = choice?.kind === 'raise' ? micros(choice.ceiling) : undefined
  if (interruptible && (bounded === undefined || bid <= bounded * dearer)) return known
  return known === undefined || pricePerHour > known * dearer ? pricePerHour : known
}
