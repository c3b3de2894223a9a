import * as v from 'valibot'
import type { MoneyDay, MoneyHistory, SpenderName } from '../../contract/spending/history.ts'
import type { Micros } from '../../contract/spending/money.ts'
import type { AccountContext, AccountPoll, Automation } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import { accrueSpending } from './accrual.ts'
import type { Charges } from './charges.ts'
import type { Counted } from './costs.ts'
import { emptyDay, neededNames, StoredDay, StoredNames, withDaysOver, withStretch } from './days.ts'
import { localDay } from './local-days.ts'
import { StoredSamples, sampleLength, thinnedSamples, withAmount, withoutOld } from './samples.ts'

/** How an account's money went: every five minutes for 90 days, every day for ever. */
export interface Money extends Automation {
  /** Samples from a moment on (epoch seconds), at most so many, and every day. */
  history(from: number, most: number): MoneyHistory
  /** What this day and this month of the machine's calendar have cost up to the last poll. */
  spentToday(): Micros
  spentThisMonth(): Micros
  /** Up to when: polls without the credit are left to the next that has it. Undefined before the first. */
  countedAt(): number | undefined
  /** Another key may be told what the last one was not. */
  keyChanged(): void
}

/** Seconds: a credit that is not told for so long is one that the key may not read. */
const longestWithoutCredit = 3600

/** What changes with every sample: small, since it is written as often. */
const Now = v.object({
  counted: v.optional(
    v.object({
      at: v.number(),
      uncertainty: v.optional(v.number()),
      credit: v.optional(v.number()),
      instances: v.record(
        v.string(),
        v.object({
          spent: v.number(),
          perHour: v.number(),
          least: v.optional(v.number()),
          part: v.optional(v.number()),
          disk: v.optional(v.number()),
          booting: v.optional(v.literal(true)),
          running: v.optional(v.number()),
          traffic: v.optional(v.number()),
        }),
      ),
      over: v.optional(v.number()),
    }),
  ),
  today: StoredDay,
  samples: StoredSamples,
  names: StoredNames,
  /** Since when polls come without the credit, and are passed over: on disk, or a restart would begin that anew. */
  creditStaleSince: v.optional(v.number()),
})

/** What is over: written once a day. */
const Past = v.object({ days: v.array(StoredDay), samples: StoredSamples, names: StoredNames })

/** Seconds: a clock that leaps by years does not fill the records with days. */
const longestStretch = 400 * 86_400
/** Characters of a label that are kept. */
const longestLabel = 80

export async function openMoney(
  context: Pick<AccountContext, 'account' | 'store' | 'machine' | 'files' | 'folder' | 'onBroken' | 'now'>,
  charges?: Charges,
): Promise<Money> {
  const { files, folder, onBroken, machine } = context
  const kept = { files, clock: machine.clock, onBroken }
  const [now, past] = await Promise.all([
    openDocument({
      ...kept,
      name: `${folder}/money-now.json`,
      schema: Now,
      empty: { today: emptyDay(localDay(context.now())), samples: [], names: {} },
    }),
    openDocument({
      ...kept,
      name: `${folder}/money-past.json`,
      schema: Past,
      empty: { days: [], samples: [], names: {} },
    }),
  ])
  /** As of the last poll; what is on disk may be a sample's length older, and goes on from there after a kill. */
  let current = now.get()
  let written = current.counted?.at ?? Number.NEGATIVE_INFINITY

  function onPoll({ account, credit, at, uncertainty }: AccountPoll): void {
    const before = current.counted as Counted | undefined
    // What was spent follows from the credit: a poll without it is passed over, as long as it is told again soon.
    // The time since the last one says nothing of that: Berth may have been away for a night.
    if (credit === undefined && before?.credit !== undefined) {
      const { creditStaleSince = at } = current
      if (current.creditStaleSince === undefined) {
        current = { ...current, creditStaleSince }
        save()
      }
      if (Math.abs(at - creditStaleSince) < longestWithoutCredit) return void charges?.onPoll(at)
    }
    const { counted, spent, toppedUp, estimated, shares, inAll } = accrueSpending(before, {
      at,
      instances: account.instances,
      uncertainty,
      credit,
    })
    void charges?.onPoll(at, estimated)
    if (inAll.size > 0) showCosts(inAll, at)
    const names = namedSpenders(current.names, account)
    const from = before === undefined || before.at > at ? at : Math.max(before.at, at - longestStretch)
    const model = (id: string) => names[id]?.gpu ?? ''
    const known = (day: string) => past.get().days.find(one => one.day === day)
    const stretch = { from, to: at, spent, toppedUp, estimated, shares, credit, model }
    const days = withStretch(current.today, stretch, known)
    const today = days.at(-1) ?? current.today
    // Later ones, too: on a journey west the calendar goes back.
    const over = (days[0]?.day === current.today.day ? days : [current.today, ...days]).filter(
      ({ day }) => day !== today.day,
    )
    const samples = withAmount(current.samples, at, spent, credit)
    current = { counted: counted as NonNullable<typeof current.counted>, today, samples, names }
    if (over.length > 0) turnDay(over)
    else if (isNextSample(at, written) || !samePrices(before, counted)) save()
  }

  /** An instance and what was spent on it tell the same. */
  function showCosts(inAll: ReadonlyMap<string, Micros>, at: number): void {
    context.store.change(draft => {
      for (const [id, micros] of inAll) {
        const shown = draft.accounts[context.account]?.instances[id]
        if (shown) shown.spent = { ...shown.spent, micros, at }
      }
    })
  }

  function save(): void {
    const saved = current
    written = saved.counted?.at ?? written
    now.writeSoon(() => saved)
  }

  /** The past is written first: killed in between, the day is counted again from where it was, and replaces itself. */
  function turnDay(over: readonly MoneyDay[]): void {
    const { samples, names, today } = current
    current = { ...current, samples: samples.slice(-1), names: neededNames(names, [today]) }
    const moved = samples.slice(0, -1)
    const from = moved[0]?.[0] ?? Number.POSITIVE_INFINITY
    const recorded = past.record(before => {
      const days = withDaysOver(before.days, over)
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

  /** Every day in order, as the service charged it where it tells. */
  function allDays(): readonly MoneyDay[] {
    const over = past.get().days.filter(({ day }) => day !== current.today.day)
    const counted = [...over, current.today].sort((a, b) => (a.day < b.day ? -1 : 1))
    return charges?.asCharged(counted, allNames()) ?? counted
  }

  return {
    onPoll,
    resume: () => undefined,
    history(from, most) {
      const before = past.get()
      const [first] = current.samples
      // Time may have gone back behind what is over.
      const earlier = first ? before.samples.filter(([end]) => end < first[0]) : before.samples
      return {
        samples: thinnedSamples([...earlier, ...current.samples], from, most),
        days: allDays(),
        names: allNames(),
      }
    },
    spentToday: () => (current.today.day === localDay(context.now()) ? current.today.spent : 0),
    spentThisMonth() {
      const month = localDay(context.now()).slice(0, 7)
      return allDays()
        .filter(({ day }) => day.startsWith(month))
        .reduce((sum, { spent }) => sum + spent, 0)
    },
    countedAt: () => current.counted?.at,
    keyChanged: () => charges?.keyChanged(),
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

/** Whether the same instances cost the same: after a kill, what has changed meanwhile could have done so at any moment. */
function samePrices(before: Counted | undefined, { instances }: Counted): boolean {
  const prices = before?.instances ?? {}
  const ids = Object.keys(instances)
  return (
    ids.length === Object.keys(prices).length &&
    ids.every(id => prices[id]?.perHour === instances[id]?.perHour)
  )
}

/** What is known of each instance that is there; those that have gone keep what was known. */
function namedSpenders(
  names: Readonly<Record<string, SpenderName>>,
  account: AccountPoll['account'],
): Record<string, SpenderName> {
  const named = { ...names }
  const projects = projectsByInstance(account)
  for (const { id, gpu, label: inFull } of Object.values(account.instances)) {
    const before = names[id]
    const label = inFull?.slice(0, longestLabel)
    const project = projects.get(id) ?? before?.project
    if (before && before.gpu === gpu?.name && before.label === label && before.project === project) continue
    named[id] = { gpu: gpu?.name, label, project }
  }
  return named
}

/** The names of the projects that machines were rented for, those included that could not be entered. */
function projectsByInstance({
  jobs,
  attempts,
}: Pick<AccountPoll['account'], 'jobs' | 'attempts'>): ReadonlyMap<number, string> {
  return new Map(
    Object.values(jobs).flatMap(({ name, instance, attemptSeries }) =>
      [instance, ...(attempts[attemptSeries]?.attempts ?? []).map(attempt => attempt.instance)].flatMap(id =>
        id === undefined ? [] : [[id, name] as const],
      ),
    ),
  )
}
