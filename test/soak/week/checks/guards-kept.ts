import { hasEnded } from '../../../../electron/contract/automation/guard.ts'
import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Poll, Stretch, Timeline } from '../timeline.ts'
import { isList } from './polls.ts'

/** The outcome of all guards. */
export interface GuardsKept {
  /** The number of times a guard acted on its instance. */
  acted: number
  /** Guards that became due while Berth could not poll, and only reported that, as chosen. */
  missed: number
  /** The failures. */
  broken: string[]
}

/** Seconds of error in the account's time, since an answer's `Date` has whole seconds. */
const uncertainty = 1
/** Seconds by which a due time from prices or load may move before State shows it, in whole seconds. */
const unshown = 1.5
/** Seconds within which Berth polls again after a poll close to a due time that by its own time is not reached. */
const soon = 4
/** Seconds within which a request that the service refused or rate limited is repeated. */
const longestPutOff = 60
/** Seconds without a poll after which a due time counts as missed. */
const gap = 600

/**
 * Checks that every guard acted on the first fresh answer after it was due. Only the first poll of a life may leave it
 * to the next one, which follows at once: the service's time is the `Date` of its answers, and a single one cannot show
 * whether its clock has jumped.
 */
export function guardsKept({ guards, polls }: Timeline, requests: readonly LoggedRequest[]): GuardsKept {
  const kept: GuardsKept = { acted: 0, missed: 0, broken: [] }
  const asked = requests.flatMap(({ method, path, at }) => (method === 'GET' && isList(path) ? [at] : []))
  for (const [id, stretches] of guards) {
    for (const poll of neglected(stretches, polls, requests))
      kept.broken.push(`${tale(id, poll.stretch)} waited through the poll at ${poll.at}`)
    for (const poll of leftAlone(stretches, polls, asked))
      kept.broken.push(`${tale(id, poll.stretch)} was left at ${poll.at}, and not looked at again soon`)
    for (const [index, stretch] of stretches.entries()) {
      const next = stretches[index + 1]
      if (!next || hasEnded(stretch.guard) || !hasEnded(next.guard)) continue
      if (next.guard.step === 'missed') {
        kept.missed += 1
        const problem = wronglyMissed(stretch, next.from)
        if (problem) kept.broken.push(`${tale(id, stretch)} ${problem}`)
      }
      if (next.guard.step !== 'done') continue
      kept.acted += 1
      if (!wasDone(stretch, stretches[0]?.from ?? 0, next.from, requests))
        kept.broken.push(`${tale(id, stretch)} says that it acted, but nobody asked for it`)
    }
  }
  return kept
}

/** The fresh answers at which the guard was due, but neither it nor its instances changed. */
function neglected(
  stretches: readonly Stretch[],
  polls: readonly Poll[],
  requests: readonly LoggedRequest[],
): { stretch: Stretch; at: number }[] {
  return stretches.flatMap((stretch, index) => {
    if (hasEnded(stretch.guard)) return []
    return between(polls, stretch.from, stretch.until).flatMap(poll => {
      if (poll.number === 1 || !isDue(stretch, poll.at) || !mayAct(stretch, poll)) return []
      const before = stretches.slice(0, index + 1).findLast(({ order }) => order < poll.order)
      const hadToWait = before !== undefined && before.until >= poll.at && mayAct(before, poll)
      return hadToWait && !isLeftToAttempts(stretch, poll, requests) ? [{ stretch, at: poll.at }] : []
    })
  })
}

/**
 * The fresh answers so close to the due time that by Berth's own time it may not be reached, after which Berth did not
 * poll again at once. Berth polls exactly at due times, so a guard that acts one poll late would go unnoticed
 * otherwise.
 */
function leftAlone(
  stretches: readonly Stretch[],
  polls: readonly Poll[],
  asked: readonly number[],
): { stretch: Stretch; at: number }[] {
  return stretches.flatMap((stretch, index) => {
    const { dueAt } = stretch.guard
    if (!waits(stretch) || dueAt === undefined || hasMoved(stretch, stretches[index + 1])) return []
    return between(polls, stretch.from, stretch.until).flatMap(({ at, until, number }) => {
      const isNear = Math.abs(at - dueAt) <= uncertainty && until + soon < stretch.until
      return number === 1 || !isNear || asked.some(one => one > until && one <= until + soon)
        ? []
        : [{ stretch, at }]
    })
  })
}

/** Whether the guard is shown next with another due time. */
function hasMoved({ guard }: Stretch, next: Stretch | undefined): boolean {
  return next !== undefined && next.guard.dueAt !== undefined && next.guard.dueAt !== guard.dueAt
}

/** The polls that ended in a period. */
function between(polls: readonly Poll[], from: number, until: number): readonly Poll[] {
  let low = 0
  let high = polls.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((polls[middle]?.until ?? 0) < from) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < polls.length && (polls[end]?.until ?? 0) < until) end += 1
  return polls.slice(low, end)
}

function isDue({ guard: { condition, dueAt } }: Stretch, at: number): boolean {
  const isFixed = condition.kind === 'time' || condition.kind === 'duration'
  return dueAt !== undefined && dueAt + uncertainty + (isFixed ? 0 : unshown) < at
}

function mayAct(stretch: Stretch, poll: Poll): boolean {
  return waits(stretch) || isHeldUp(stretch, poll)
}

function waits(stretch: Stretch): boolean {
  const { step } = stretch.guard
  return (step === 'waiting' || step === 'warned') && hasTargets(stretch)
}

/**
 * Whether the guard was held without the data of its condition, and this poll has it. A guard that has failed retries
 * in its own time, and one on idle time may still have to ask the instance.
 */
function isHeldUp(stretch: Stretch, { credit }: Poll): boolean {
  const { step, condition, problem } = stretch.guard
  if (step !== 'held' || condition.kind === 'idle' || !hasTargets(stretch)) return false
  if (problem !== undefined && problem.code !== 'credit_stale') return false
  return credit || (condition.kind !== 'budget' && condition.kind !== 'credit')
}

/**
 * Whether all its targets are attempts, which their series destroys after the guard has acted. Until then the guard is
 * shown unchanged, however late the answer is or however often the service refuses.
 */
function isLeftToAttempts(
  { guard, instances }: Stretch,
  poll: Poll,
  requests: readonly LoggedRequest[],
): boolean {
  const running = Object.keys(instances).filter(id => instances[id] === 'running')
  const targets = guard.instance === undefined ? running : [String(guard.instance)]
  return targets.every(id => {
    const path = `/api/v0/instances/${id}/`
    return isBeingDropped(
      poll,
      requests.filter(one => one.method === 'DELETE' && one.path === path),
    )
  })
}

/** Whether it was requested soon after the poll, or failed before it and was repeated. */
function isBeingDropped({ at, until }: Poll, drops: readonly LoggedRequest[]): boolean {
  return drops.some(
    (drop, index) =>
      drop.at >= at &&
      (drop.at <= until + soon || wasInVain(drops[index - 1], until, drop.at - longestPutOff)),
  )
}

function wasInVain(drop: LoggedRequest | undefined, until: number, since: number): boolean {
  return drop !== undefined && drop.status !== 200 && drop.at <= until && drop.at >= since
}

/** A guard on the account needs a running instance, and any other needs its instance in the answer. */
function hasTargets({ guard, instances }: Stretch): boolean {
  return guard.instance === undefined
    ? Object.values(instances).includes('running')
    : guard.instance in instances
}

/** A guard may only be missed with that choice, and long after a due time without a poll. */
function wronglyMissed({ guard: { missed, dueAt } }: Stretch, at: number): string | undefined {
  if (missed === 'act') return 'was to act however late, and did not'
  if (dueAt === undefined) return undefined
  return at - dueAt < gap - uncertainty
    ? `was missed at ${at}, though its moment had only just passed`
    : undefined
}

/** Whether anyone stopped or destroyed the instance; a guard is also done if another was faster. */
function wasDone(
  { guard }: Stretch,
  from: number,
  until: number,
  requests: readonly LoggedRequest[],
): boolean {
  if (guard.instance === undefined) return true
  const path = new RegExp(`^/api/v0/instances/${guard.instance}/?$`)
  return requests.some(
    ({ method, path: asked, at }) =>
      (method === 'DELETE' || (method === 'PUT' && guard.action === 'stop')) &&
      at >= from &&
      at <= until &&
      path.test(asked),
  )
}

function tale(id: string, { guard, from, until }: Stretch): string {
  const { instance, condition, action, step, dueAt } = guard
  return `guard ${id} (${condition.kind}, ${action} ${instance ?? 'all'}, ${step}, due at ${dueAt}, shown so from ${from} to ${until})`
}
