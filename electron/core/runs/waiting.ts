import { isGoing, isYetToEnd } from '#shared/automation/run.ts'
import type { Waiting } from '#shared/automation/waiting.ts'
import { canGetIn } from '#shared/derived.ts'
import { rate } from '#shared/format/money.ts'
import type { RentalView } from '#shared/market/rental-view.ts'
import { micros } from '#shared/spending/money.ts'
import { type FailedMove, failsAfter, pauseAfter, type RunMove, type RunSnapshot } from './decide.ts'
import { commandFailed } from './messages.ts'
import { isWorker, type Run } from './model.ts'

/** What a run waits for; `since` where that began before Berth noticed. */
export type Wait = Omit<Waiting, 'since'> & Partial<Pick<Waiting, 'since'>>

interface WaitFacts {
  snapshot: Pick<RunSnapshot, 'instance' | 'awaited'>
  /** The rental of its machine, as State shows it. */
  rental: RentalView | undefined
  /** Why the service doesn't answer, and when it's asked again. */
  outage: Pick<Waiting, 'problem' | 'nextTryAt'> | undefined
}

/**
 * What a run waits for while it makes this move, or waits; undefined for one that is over. While it sends or downloads, its
 * progress is shown in place of this.
 */
export function waitOf(run: Run, move: RunMove['do'], facts: WaitFacts): Wait | undefined {
  if (!isGoing(run)) return undefined
  const { instance } = facts.snapshot
  if (run.step === 'waiting') {
    if (run.startsAt !== undefined) return { for: 'time', nextTryAt: run.startsAt }
    if (move === 'network') return { for: 'network' }
    const isLeft = facts.snapshot.awaited?.step === 'failed'
    if (run.seeking && isLeft && !facts.outage) return seekingWait(run, run.seeking)
    if (facts.rental) return rentalWait(facts.rental)
    if (facts.outage) return { for: 'service', ...facts.outage }
    if (typeof instance === 'object') return { for: 'machine' }
    return { for: run.node ? 'nodes' : 'offer' }
  }
  if (run.step === 'ending') return { for: 'end' }
  const isEntered = typeof instance === 'object' && canGetIn(instance)
  if (!isEntered) return facts.outage ? { for: 'service', ...facts.outage } : { for: 'machine' }
  if (move === 'wait') return { for: isYetToEnd(run) && run.node ? 'nodes' : 'machine' }
  if (run.step === 'sending') return { for: 'folder' }
  if (run.step === 'fetching') return { for: 'results' }
  return { for: run.begun ? 'output' : 'start' }
}

/** What a run waits for, `wait` since `from`, with the failure of its last try. */
export function waitingOf(
  run: Run,
  wait: (Wait & { from: number }) | undefined,
  hindrance: Pick<Waiting, 'problem' | 'nextTryAt' | 'givesUpAt'> | undefined,
): Waiting | undefined {
  if (!wait || !isGoing(run)) return undefined
  const { retried, told, copying } = run
  if (run.step === 'running' && copying)
    return { for: 'copy', since: copying.since, givesUpAt: copying.until }
  if (run.step === 'running' && told) return { for: 'save', since: told.since, givesUpAt: told.until }
  if (run.step === 'running' && retried?.nextAt !== undefined) {
    const { code, message } = commandFailed(run, retried.code)
    return { for: 'retry', since: retried.at, nextTryAt: retried.nextAt, problem: { code, message } }
  }
  const { from, since = from, ...rest } = wait
  const { step, startedAt = 0, outputAt = 0, begun } = run
  const heard = Math.max(outputAt, step === 'running' ? startedAt : 0)
  // The turn that starts a program follows it, too.
  const what = wait.for === 'start' && begun ? 'output' : wait.for
  if (what !== 'output') return { ...rest, since, ...hindrance }
  // Only the first node prints.
  if (isWorker(run) && !hindrance) return undefined
  return { ...rest, for: what, since: heard > 0 ? heard : since, ...hindrance }
}

function seekingWait({ project }: Run, { since, nextAt, cheapest }: NonNullable<Run['seeking']>): Wait {
  const { wait = 0, machine } = project?.spec ?? {}
  const above = cheapest === undefined ? '' : ` The cheapest one costs ${rate(cheapest)} now.`
  const message = `No offer fits at up to ${rate(micros(machine?.price ?? 0))}.${above}`
  return {
    for: 'offer',
    since,
    problem: { code: 'no_offers', message },
    nextTryAt: nextAt,
    givesUpAt: since + wait,
  }
}

function rentalWait({ step, since, problem, deadline, givesUpAt }: RentalView): Wait {
  switch (step) {
    case 'asking':
    case 'lost':
      return { for: 'answer', since, problem }
    case 'unclear':
      return { for: 'choice', since, problem }
    case 'waiting':
    case 'late':
      return { for: 'boot', since, problem, givesUpAt: givesUpAt ?? since + deadline }
    case 'entering':
      return { for: 'ssh', since, problem, givesUpAt }
    case 'dropping':
      return { for: 'end', since, problem }
    default:
      return { for: 'offer', since, problem }
  }
}

/** The most tries that are counted. */
const mostAttempts = 200

/** Milliseconds of pauses until a move that fails each time with the same problem is given up; undefined for never. */
export function givesUpAfter(
  problem: Parameters<typeof pauseAfter>[0],
  failed: FailedMove,
): number | undefined {
  let { fails, same } = failed
  let waited = 0
  for (let tries = 0; tries < mostAttempts; tries++) {
    const pause = pauseAfter(problem, { ...failed, fails, same, clock: failed.clock + waited / 1000 })
    if (pause === undefined) return waited
    waited += pause
    fails = failsAfter(fails, failed.isOnline)
    same += 1
  }
  return undefined
}
