import type { RecoveryChoice, RecoveryView } from '#shared/automation/recovery.ts'
import { spentBy } from '#shared/derived.ts'
import { fineMoney, rate } from '#shared/format/money.ts'
import { duration } from '#shared/format/time.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Micros } from '#shared/spending/money.ts'

/** A recovery's present step; undefined while there is nothing to do. `now`: epoch seconds of the account's time. */
export function recoveryNow(recovery: RecoveryView, now: number): string | undefined {
  switch (recovery.step) {
    case 'waiting':
      return [
        recovery.problem?.message,
        `Berth ${verb(recovery)} in ${duration(Math.max(0, (recovery.until ?? now) - now))} at the earliest.`,
      ]
        .filter(Boolean)
        .join(' ')
    case 'raising':
      return 'Berth is raising the bid and waiting for the answer.'
    case 'replacing':
      return 'Berth is renting another in its place.'
    case 'replaced':
      return recovery.by === undefined ? undefined : `#${recovery.by} replaces it.`
    case 'held':
      return [recovery.problem?.message, recovery.problem?.advice].filter(Boolean).join(' ')
    case 'watching':
      return undefined
  }
}

/** The user's choice as a sentence, below the heading *If outbid*. */
export function choiceWords(choice: RecoveryChoice = { kind: 'tell' }): string {
  switch (choice.kind) {
    case 'tell':
      return 'Berth notifies you.'
    case 'raise':
      return `Berth bids just above the minimum, up to ${rate(
        choice.ceiling * 1_000_000,
      )}, at most every ${duration(choice.every)}.`
    case 'replace':
      return `Berth rents a similar one for a bid up to ${rate(
        choice.ceiling * 1_000_000,
      )}, at most every ${duration(choice.every)}.`
  }
}

/** The cost that raises have added until a moment of the account's time (epoch seconds). */
export function addedBy({ addedCost }: RecoveryView, now: number): Micros {
  return addedCost.micros + Math.max(0, Math.floor(((now - addedCost.at) * addedCost.perHour) / 3600))
}

/** The cost of raises and of replacements so far, a sentence each. */
export function recoveryCostWords(recovery: RecoveryView, instance: InstanceView, now: number): string[] {
  const { raises, replacements, of } = recovery
  const words: string[] = []
  if (raises > 0)
    words.push(
      `${raises} ${raises === 1 ? 'raise has' : 'raises have'} added ${fineMoney(addedBy(recovery, now))} so far${
        recovery.addedCost.perHour > 0 ? `, ${rate(recovery.addedCost.perHour)} now` : ''
      }.`,
    )
  const replaced = recovery.replacedCost + (of === undefined ? 0 : spentBy(instance, now))
  if (replacements > 0 || recovery.replacedCost > 0)
    words.push(
      `${replacements} ${
        replacements === 1 ? 'replacement has' : 'replacements have'
      } cost ${fineMoney(replaced)} so far, dropped attempts included.`,
    )
  return words
}

function verb({ choice }: RecoveryView): string {
  return choice.kind === 'replace' ? 'looks for another' : 'raises the bid'
}
