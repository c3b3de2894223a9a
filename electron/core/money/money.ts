import * as v from 'valibot'
import type { MoneyDay, MoneyHistory } from '../../contract/spending/history.ts'
import type { Micros } from '../../contract/spending/money.ts'
import type { AccountContext, AccountPoll, Automation } from '../account-context.ts'
import { openDocument } from '../storage/json-file.ts'
import type { Charges } from './charges.ts'
import type { Counted } from './costs.ts'
import { countPoll, MoneyNow } from './counting.ts'
import { emptyDay, StoredDay, withDaysOver } from './days.ts'
import { localDay } from './local-days.ts'
import { StoredSamples, sampleLength, thinnedSamples, withoutOld } from './samples.ts'
import { neededNames, StoredNames } from './spender-names.ts'

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

/** What is over: written once a day. */
const Past = v.object({ days: v.array(StoredDay), samples: StoredSamples, names: StoredNames })

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
      schema: MoneyNow,
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

  function onPoll(poll: AccountPoll): void {
    const { credit, at } = poll
    const before = current.counted
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
    const known = (day: string) => past.get().days.find(one => one.day === day)
    const { after, over, estimated, inAll } = countPoll(current, poll, known)
    void charges?.onPoll(at, estimated)
    if (inAll.size > 0) showCosts(inAll, at)
    current = after
    if (over.length > 0) turnDay(over)
    else if (isNextSample(at, written) || !samePrices(before, after.counted)) save()
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
