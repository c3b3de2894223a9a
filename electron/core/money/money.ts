import * as v from 'valibot'
import { isProjectRun } from '#shared/automation/run.ts'
import type { MoneyDay, MoneyHistory, SpenderName } from '#shared/spending/history.ts'
import type { Micros } from '#shared/spending/money.ts'
import { shortened } from '#shared/text.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import { type Accrual, accrueSpending, type Counted } from './accrual.ts'
import type { ChargeHistory } from './charges.ts'
import {
  emptyDay,
  localDay,
  midnight,
  StoredDay,
  withDaysOver,
  withModels,
  withOther,
  withStretch,
} from './days.ts'
import {
  perHourLately,
  StoredSamples,
  sampleLength,
  samplesInHour,
  thinnedSamples,
  wasCharged,
  withAmount,
  withoutOld,
} from './samples.ts'

/** Seconds without the credit after which the key is taken to lack the permission to read it. */
const longestWithoutCredit = 3600

const StoredNames: v.GenericSchema<Record<string, SpenderName>> = v.record(
  v.string(),
  v.object({
    gpu: v.optional(v.string()),
    label: v.optional(v.string()),
    project: v.optional(v.string()),
  }),
)

/** The past, which no longer changes; written once a day. */
const Past = v.object({ days: v.array(StoredDay), samples: StoredSamples, names: StoredNames })

/** The spending of an account: in samples of five minutes for 90 days, and by day for ever. */
export async function openMoney(
  context: Pick<AccountContext, 'account' | 'store' | 'platform' | 'files' | 'folder' | 'onBroken' | 'now'>,
  charges?: ChargeHistory,
) {
  const [now, past] = await Promise.all([
    openDocument(context, 'money-now', MoneyNow, {
      today: emptyDay(localDay(context.now())),
      samples: [],
      names: {},
    }),
    openDocument(context, 'money-past', Past, { days: [], samples: [], names: {} }),
  ])
  /** As of the last poll. The file may be five minutes older; after a kill, counting continues from it. */
  let current = now.get()
  let written = current.counted?.at ?? Number.NEGATIVE_INFINITY

  function onPoll(poll: AccountPoll): void {
    const { credit, at } = poll
    const before = current.counted
    // The spending follows from the credit, so a poll without it is skipped, for an hour at most. The hour counts from
    // the first such poll, since Berth may have been away for a night before it.
    if (credit === undefined && before?.credit !== undefined) {
      const { creditStaleSince = at } = current
      if (current.creditStaleSince === undefined) {
        current = { ...current, creditStaleSince }
        save()
      }
      if (Math.abs(at - creditStaleSince) < longestWithoutCredit) return void charges?.onPoll(at)
    }
    bringBack(at)
    const dayOf = (day: string) => past.get().days.find(one => one.day === day)
    const { projects } = context.store.get()
    const counting = countPoll(current, poll, dayOf, projects)
    const { after, endedDays, standsStill, estimated } = counting
    if (standsStill) return void charges?.onPoll(at)
    void charges?.onPoll(at, estimated)
    showCosts(counting, at)
    current = after
    if (endedDays.length > 0) turnDay(endedDays)
    else if (isNextSample(at, written) || !samePrices(before, after.counted)) save()
  }

  /**
   * Counts days that lie ahead for today: the clock was wrong. Tomorrow may have begun, where the calendar went back on a
   * journey west.
   */
  function bringBack(at: number): void {
    const [day, tomorrow] = [localDay(at), localDay(midnight(at, 1))]
    const pastDays = past.get().days.filter(one => one.day !== current.today.day)
    const days = [...pastDays, current.today]
    const ahead = days.filter(one => one.day > tomorrow)
    if (ahead.length === 0) return
    let today = days.find(one => one.day === day) ?? emptyDay(day)
    for (const one of ahead) today = withOther(today, one)
    current = { ...current, today }
    const recorded = past.record(before => ({
      ...before,
      days: pastDays.filter(one => one.day <= tomorrow && one.day !== day),
    }))
    void recorded.then(save)
  }

  /** Corrects the cost that State shows, so that instances and spending agree, and how much of it is only inferred. */
  function showCosts({ corrected, inferred }: Pick<Accrual, 'corrected' | 'inferred'>, at: number): void {
    const ids = new Set([...corrected.keys(), ...inferred.keys()])
    if (ids.size === 0) return
    context.store.change(draft => {
      for (const id of ids) {
        const shown = draft.accounts[context.account]?.instances[id]
        if (!shown) continue
        const micros = corrected.get(id)
        if (micros !== undefined) shown.spent = { ...shown.spent, micros, at }
        const more = inferred.get(id) ?? 0
        if (more > 0) shown.spent = { ...shown.spent, inferred: (shown.spent.inferred ?? 0) + more }
      }
    })
  }

  function save(): void {
    const saved = current
    written = saved.counted?.at ?? written
    now.writeSoon(() => saved)
  }

  /** The past is written first: after a kill in between, the day is counted again and replaces the one on disk. */
  function turnDay(endedDays: readonly MoneyDay[]): void {
    const { samples, names, today } = current
    current = { ...current, samples: samples.slice(-1), names: neededNames(names, [today]) }
    const moved = samples.slice(0, -1)
    const from = moved[0]?.[0] ?? Number.POSITIVE_INFINITY
    const recorded = past.record(before => {
      const days = withDaysOver(before.days, endedDays)
      const earlier = before.samples.filter(([end]) => end < from)
      return {
        days,
        samples: withoutOld([...earlier, ...moved]),
        names: neededNames({ ...before.names, ...names }, days),
      }
    })
    void recorded.then(save)
  }

  const allNames = () => ({ ...past.get().names, ...current.names })

  /** Every day in order, as the service charged it if it says so. */
  function allDays(): readonly MoneyDay[] {
    const names = allNames()
    const pastDays = past.get().days.filter(({ day }) => day !== current.today.day)
    const counted = [...pastDays, current.today]
      .sort((a, b) => (a.day < b.day ? -1 : 1))
      .map(day => withModels(day, names))
    return charges?.asCharged(counted, names) ?? counted
  }

  return {
    onPoll,
    /** At most `most` samples after a moment (epoch seconds), and every day. */
    history(from: number, most: number): MoneyHistory {
      const before = past.get()
      const [first] = current.samples
      // Time may have gone back to before the stored samples end.
      const earlier = first ? before.samples.filter(([end]) => end < first[0]) : before.samples
      return {
        samples: thinnedSamples([...earlier, ...current.samples], from, most),
        days: allDays(),
        names: allNames(),
      }
    },
    /** The spending up to the last poll, in this day and month of this computer's calendar. */
    spentToday: (): Micros => (current.today.day === localDay(context.now()) ? current.today.spent : 0),
    spentThisMonth(): Micros {
      const month = localDay(context.now()).slice(0, 7)
      return allDays()
        .filter(({ day }) => day.startsWith(month))
        .reduce((sum, { spent }) => sum + spent, 0)
    },
    /** Spending per hour, over the last hour or the whole time since the poll before it. */
    observedPerHour: (): Micros =>
      perHourLately([...past.get().samples.slice(-samplesInHour), ...current.samples]),
    /**
     * Whether machines of the account may have cost that much since then, in epoch seconds: no more was charged than left
     * the account. It says no where that is not half as much, as after a price that was none. Yes where it's unknown.
     */
    mayHaveCost(cost: Micros, since: number): boolean {
      return wasCharged([...past.get().samples, ...current.samples], cost, since)
    },
    /** When a poll was last counted; polls without the credit may be skipped. Undefined before the first. */
    countedAt: (): number | undefined => current.counted?.at,
    /** The key was replaced: the new one may be allowed to read more. */
    keyChanged: (): void => charges?.keyChanged(),
    async flush() {
      await charges?.flush()
      await past.flush()
      save()
      await now.flush()
    },
  }
}

function isNextSample(at: number, written: number): boolean {
  return Math.floor(at / sampleLength) !== Math.floor(written / sampleLength)
}

/** Whether instances and prices are unchanged. Changes are saved at once: a kill would lose their moment. */
function samePrices(before: Counted | undefined, { instances }: Counted): boolean {
  const prices = before?.instances ?? {}
  const ids = Object.keys(instances)
  return (
    ids.length === Object.keys(prices).length &&
    ids.every(id => prices[id]?.perHour === instances[id]?.perHour)
  )
}

/** The part that changes with every sample, kept small because it is written as often. */
const MoneyNow = v.object({
  counted: v.optional(
    v.object({
      at: v.number(),
      credit: v.optional(v.number()),
      prepaid: v.optional(v.number()),
      instances: v.record(
        v.string(),
        v.object({
          spent: v.number(),
          perHour: v.number(),
          running: v.number(),
          disk: v.optional(v.number()),
          traffic: v.optional(v.number()),
          rests: v.optional(v.boolean()),
        }),
      ),
    }),
  ),
  today: StoredDay,
  samples: StoredSamples,
  names: StoredNames,
  /** Since when polls lack the credit and are skipped. Stored, so that a restart does not restart that time. */
  creditStaleSince: v.optional(v.number()),
})
type MoneyNow = v.InferOutput<typeof MoneyNow>

/** The record after a poll was counted. */
interface CountedPoll extends Pick<Accrual, 'standsStill' | 'estimated' | 'corrected' | 'inferred'> {
  after: MoneyNow & { counted: Counted }
  /** Days that ended with this poll. */
  endedDays: readonly MoneyDay[]
}

/** Seconds: the most that a poll adds, so that a clock that leaps by years does not fill the record with days. */
const longestStretch = 400 * 86_400

/** Adds a poll to the record. `known` gives a day that was counted before, for a calendar that goes back. */
function countPoll(
  before: MoneyNow,
  { account, credit, at }: AccountPoll,
  dayOf: (day: string) => MoneyDay | undefined,
  projects: ProjectNames,
): CountedPoll {
  const since = before.counted?.at ?? at
  const accrual = accrueSpending(before.counted, { at, instances: account.instances, credit })
  const { counted, spent, toppedUp, standsStill, estimated, shares, uses, corrected, inferred } = accrual
  const names = namedSpenders(before.names, account, projects)
  const from = since > at ? at : Math.max(since, at - longestStretch)
  const model = (id: string) => names[id]?.gpu ?? ''
  const stretch = { from, to: at, spent, toppedUp, estimated, shares, uses, credit, model }
  // What was before the first poll isn't known, though Berth ran: it may have had no key.
  const begun = before.counted ? before.today : emptyDay(localDay(at))
  const days = withStretch(begun, stretch, dayOf)
  const today = days.at(-1) ?? begun
  // Also days after `today`: on a journey west the calendar goes back.
  const endedDays = (days[0]?.day === begun.day ? days : [begun, ...days]).filter(
    ({ day }) => day !== today.day,
  )
  const samples = withAmount(before.samples, at, spent, credit)
  return { after: { counted, today, samples, names }, endedDays, standsStill, estimated, corrected, inferred }
}

/** Letters of a label that are stored: all of one that Berth gave. */
const longestLabel = 128

/** Adds the names of the present instances; those of gone instances stay. */
export function namedSpenders(
  names: Readonly<Record<string, SpenderName>>,
  account: AccountPoll['account'],
  projectNames: ProjectNames = {},
): Record<string, SpenderName> {
  const named = { ...names }
  const projects = projectsByInstance(account, projectNames)
  for (const { id, gpu, label: inFull } of Object.values(account.instances)) {
    const before = names[id]
    const label = inFull && shortened(inFull, longestLabel)
    const project = projects.get(id) ?? before?.project
    // A record of an instance that starts or ends may lack its GPU.
    const model = gpu?.name ?? before?.gpu
    if (before && before.gpu === model && before.label === label && before.project === project) continue
    named[id] = { gpu: model, label, project }
  }
  return named
}

type ProjectNames = Readonly<Record<string, { name: string }>>

/** The project that each machine was rented for, including machines that could not be entered. */
function projectsByInstance(
  { runs, rentals, sweeps }: Pick<AccountPoll['account'], 'runs' | 'rentals' | 'sweeps'>,
  names: ProjectNames,
): ReadonlyMap<number, string> {
  return new Map(
    Object.values(runs)
      .filter(isProjectRun)
      .flatMap(run => [run, ...(run.nodes ?? [])])
      .flatMap(({ name, project, instance, rental = '', sweep }) =>
        [instance, ...(rentals[rental]?.attempts ?? []).map(attempt => attempt.instance)].flatMap(id =>
          // Runs have names of their own, such as `digits 6`; those of a removed project are named by their sweep.
          id === undefined
            ? []
            : [[id, names[project]?.name ?? sweeps[sweep?.id ?? '']?.name ?? name] as const],
        ),
      ),
  )
}

/** The names that some stored day refers to. */
export function neededNames(
  names: Readonly<Record<string, SpenderName>>,
  days: readonly MoneyDay[],
): Record<string, SpenderName> {
  const needed = new Set(days.flatMap(({ instances }) => Object.keys(instances)))
  return Object.fromEntries(Object.entries(names).filter(([id]) => needed.has(id)))
}
