import type { Limit } from '#shared/automation/limit.ts'
import { money } from '#shared/format/money.ts'
import { named } from '#shared/format/name.ts'
import { duration } from '#shared/format/time.ts'
import { longestKept } from '#shared/project/bounds.ts'
import { usualMachine } from '#shared/project/project-defaults.ts'
import type { Keeping, ProjectSpec } from '#shared/project/spec.ts'
import type { Micros } from '#shared/spending/money.ts'

/** How several machines run a command together. */
export const nodesWords =
  'Berth rents all of them or none. The run ends when node 0 ends or any node fails. Only node 0’s results are downloaded.'

/** The demands to loosen where no offer meets them, the strictest first. */
export function loosenWords({ machine = {} }: ProjectSpec): string {
  const demands = [
    machine.price !== undefined && 'a higher price',
    machine.gpu !== undefined && 'other GPUs',
    machine.region !== undefined && 'other countries',
    (machine.count ?? 1) > 1 && 'fewer GPUs',
    machine.vram !== undefined && 'less VRAM',
    machine.verified !== false && 'unverified hosts (verified: false)',
    `a lower reliability than ${machine.reliability ?? usualMachine.reliability}%`,
    (machine.download !== undefined || machine.upload !== undefined) && 'a slower network',
    machine.cuda !== undefined && 'an older CUDA',
  ].filter(demand => demand !== false)
  return `Allow ${named(demands, { last: ' or ' })}, or try again later.`
}

/** What can become of the machine of a failed run: kept with a reminder, destroyed after that time, or at once. */
export type KeepingChoice = 'kept' | 'later' | 'now'

/** What each means, with what its disk costs at most. `seconds`: until the reminder; `disk`: micro-dollars per hour. */
export function keepingChoices(
  { seconds }: Keeping,
  disk: Micros | undefined,
): Record<KeepingChoice, { keeping: Keeping; label: string }> {
  const soonest = { seconds: 60, destroys: true }
  const [kept, later] = [
    { seconds, destroys: false },
    { seconds, destroys: true },
  ]
  const sum = (keeping: Keeping) =>
    disk === undefined ? '' : `, ${money(Math.ceil((disk * longestKept(keeping)) / 3600))}`
  return {
    kept: {
      keeping: kept,
      label: `Keep${disk === undefined ? '' : ` ${duration(longestKept(kept))}`}${sum(kept)}`,
    },
    later: { keeping: later, label: `Destroy after ${duration(seconds)}${sum(later)}` },
    now: { keeping: soonest, label: 'Destroy at once' },
  }
}

/** Which of them it is. */
export function keepingChosen({ seconds, destroys }: Keeping): KeepingChoice {
  if (!destroys) return 'kept'
  return seconds <= 60 ? 'now' : 'later'
}

/** When the limits of a plan act while this computer sleeps. `several`: whether they are of several machines. */
export function sleepWords(limits: readonly Limit[], several: boolean): string | undefined {
  if (limits.length === 0) return undefined
  const byWatchdog = limits.filter(({ when, asleep }) => asleep || when.kind !== 'idle')
  if (byWatchdog.length === 0)
    return 'If this computer sleeps through one of these limits, the limit acts when it wakes.'
  const watchdog = `A watchdog on ${several ? 'each machine' : 'the machine'} applies`
  const others = limits.length - byWatchdog.length
  if (others === 0) return `${watchdog} these limits even while this computer sleeps.`
  return `${watchdog} ${byWatchdog.length === 1 ? 'one' : 'some'} of these limits even while this computer sleeps; ${
    others === 1 ? 'the other acts' : 'the others act'
  } when it wakes.`
}
