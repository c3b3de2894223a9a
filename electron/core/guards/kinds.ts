import type { GuardCondition } from '../../contract/automation/guard-kinds.ts'
import { money } from '../../contract/format/money.ts'
import { percent } from '../../contract/format/size.ts'
import { atMoment, duration } from '../../contract/format/time.ts'
import { expectedTraffic } from '../../contract/reading.ts'
import type { Micros } from '../../contract/spending/money.ts'
import type { AccountView } from '../../contract/state.ts'
import type { Periods } from './decide/calendar.ts'
import { calmRate } from './decide/choose-targets.ts'
import type { Loads } from './decide/idle.ts'
import type { Guard } from './model.ts'

/** What guards decide on: an account as it was seen at `at`. Times in epoch seconds of the account's time. */
export interface Facts extends Periods {
  at: number
  account: Pick<AccountView, 'instances' | 'credit' | 'creditAt' | 'spendPerHour'>
  /** What this day and this month of the machine's calendar have cost, and up to when that was counted. */
  spentToday: Micros
  spentThisMonth: Micros
  countedAt: number
  /** By instance, where the service does not tell the GPU load and it was asked inside. */
  loads: Loads
}

/**
 * How a guard reads the facts, and what it says. Being idle lasts over many looks: what is counted from one to the next
 * is in `decide/idle.ts`.
 */
interface KindOfGuard {
  /** When it is due if all goes on as it was seen; undefined where nothing leads there. */
  moment(guard: Pick<Guard, 'instance' | 'idleSince'>, facts: Facts): number | undefined
  /** The end of a sentence: `when it has cost $5.00`. */
  when(now: number): string
  /** Why it acts, as a sentence. */
  reason(): string
  /** What the record keeps of why, where that is not what its instance costs: a sentence with the figure that was seen. */
  seen?(facts: Facts): string
  /**
   * Up to when the money was counted that it goes by, where the service tells the instances but not the credit: its
   * moment is where that leads by the prices, and nothing is done on it. Undefined where it is told.
   */
  creditStaleSince?(facts: Facts): number | undefined
}

export function kindOf(condition: GuardCondition): KindOfGuard {
  switch (condition.kind) {
    case 'time':
      return {
        moment: () => condition.at,
        when: now => `${atMoment(condition.at, now)}`,
        reason: () => 'Its time has come.',
      }
    case 'duration': {
      const { from, seconds } = condition
      return {
        moment: () => from + seconds,
        when: now => `${atMoment(from + seconds, now)}, ${duration(seconds)} after it was set`,
        reason: () => `Its ${duration(seconds)} are over.`,
      }
    }
    case 'idle': {
      const { below, seconds } = condition
      const load = () => `GPU load was below ${percent(below)} for ${duration(seconds)}`
      return {
        moment: ({ idleSince }) => (idleSince === undefined ? undefined : idleSince + seconds),
        when: () => `when its ${load()}`,
        reason: () => `Its ${load()}.`,
      }
    }
    case 'cost': {
      const { limit } = condition
      return {
        moment({ instance }, { account }) {
          const target = account.instances[instance ?? 0]
          if (!target) return undefined
          const { micros, perHour, at } = target.spent
          return reached(micros, limit, perHour + expectedTraffic(target), at)
        },
        when: () => `when it has cost ${money(limit)}`,
        reason: () => `It has cost ${money(limit)}.`,
      }
    }
    case 'budget': {
      const { per, limit } = condition
      const spent = (facts: Facts) => (per === 'day' ? facts.spentToday : facts.spentThisMonth)
      return {
        moment(_, facts) {
          const [began, ends] =
            per === 'day' ? [facts.dayBegan, facts.dayEnds] : [facts.monthBegan, facts.monthEnds]
          const from = Math.max(facts.countedAt, began)
          const at = reached(spent(facts), limit, facts.account.spendPerHour + expectedOfAll(facts), from)
          return at === undefined || at >= ends ? undefined : at
        },
        when: () => `when a ${per} has cost ${money(limit)}`,
        reason: () => `This ${per} has cost ${money(limit)}.`,
        seen: facts => `Seen: ${money(spent(facts))}.`,
        creditStaleSince: ({ account: { creditAt }, countedAt, at }) =>
          creditAt !== undefined && countedAt < at ? countedAt : undefined,
      }
    }
    case 'credit': {
      const { hours } = condition
      const short = `the credit would last less than ${duration(hours * 3600)}`
      return {
        moment(_, { at, account: { credit, creditAt = at, instances } }) {
          const perHour = calmRate(instances)
          if (credit === undefined || perHour <= 0) return undefined
          return creditAt + (credit / perHour - hours) * 3600
        },
        when: () => `when ${short}`,
        reason: () => `T${short.slice(1)}.`,
        seen: ({ account: { credit } }) => (credit === undefined ? '' : `Seen: ${money(credit)} of credit.`),
        creditStaleSince: ({ account: { creditAt } }) => creditAt,
      }
    }
  }
}

function expectedOfAll({ account: { instances } }: Facts): Micros {
  return Object.values(instances).reduce((sum, instance) => sum + expectedTraffic(instance), 0)
}

/** When a sum that grows from `spent` at `at` comes to the limit; where it stands still beyond it, `at`. */
function reached(spent: Micros, limit: Micros, perHour: Micros, at: number): number | undefined {
  if (perHour > 0) return at + ((limit - spent) * 3600) / perHour
  return spent >= limit ? at : undefined
}
