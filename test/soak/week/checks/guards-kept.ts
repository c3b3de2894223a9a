import { hasEnded } from '../../../../electron/contract/automation/guard.ts'
import type { LoggedRequest } from '../../../../simulator/http/request-log.ts'
import type { Poll, Stretch, Timeline } from '../timeline.ts'
import { isList } from './polls.ts'

/** What became of all guards. */
export interface GuardsKept {
  /** How often a guard acted on its instance. */
  acted: number
  /** Guards whose moment passed while Berth could not poll, and that only said so, as was chosen. */
  missed: number
  /** Where one was not kept, and how. */
  broken: string[]
}

/** Seconds by which Berth may be wrong about what time it is: an answer's `Date` has whole ones. */
const uncertainty = 1
/** Seconds by which a moment that follows from prices or load may move before State shows it: it is in whole ones. */
const unshown = 1.5
/** Seconds after a poll just before or at a moment in which Berth, by whose own time it has not come, polls again. */
const soon = 4
/** Seconds within which what the service has put off or refused is asked again. */
const longestPutOff = 60
/** Seconds without a poll after which a moment counts as missed. */
const gap = 600

/**
 * Whether every guard was kept by the first fresh answer after its moment. Only the first poll of a life may leave it
 * to the one that follows, which Berth makes at once: the service's time is the `Date` of its answers, and by one of
 * them alone nobody can tell whether its clock has leapt meanwhile.
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

/** The fresh answers that found it due, and left it and its instances as they were. */
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
 * The fresh answers so near to its moment that by Berth's own time it may not have come, after which Berth did not ask
 * again at once: one that acts a poll too late would hide there, since Berth polls at the very moment.
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

/** Whether what is shown next is another moment of it. */
function hasMoved({ guard }: Stretch, next: Stretch | undefined): boolean {
  return next !== undefined && next.guard.dueAt !== undefined && next.guard.dueAt !== guard.dueAt
}

/** The polls that ended in that time. */
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
 * Whether it was due without an answer that tells what it goes by, and such a one is here. One that has tried and failed
 * tries again in its own time, and one on idleness may still have to ask inside.
 */
function isHeldUp(stretch: Stretch, { credit }: Poll): boolean {
  const { step, condition, problem } = stretch.guard
  if (step !== 'held' || condition.kind === 'idle' || !hasTargets(stretch)) return false
  if (problem !== undefined && problem.code !== 'credit_stale') return false
  return credit || (condition.kind !== 'budget' && condition.kind !== 'credit')
}

/**
 * Whether all that it is to stop is an attempt, which goes by its series once the guard has acted: the guard is
 * shown as before until then, however late the answer is, or however often the service puts it off.
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

/** Asked for by soon after the poll, or in vain before it and asked for again. */
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

/** One on the account has nothing to do while nothing runs, and any other while its instance is not in the answer. */
function hasTargets({ guard, instances }: Stretch): boolean {
  return guard.instance === undefined
    ? Object.values(instances).includes('running')
    : guard.instance in instances
}

/** Being told only is for a moment at which nobody polled, and long after it. */
function wronglyMissed({ guard: { missed, dueAt } }: Stretch, at: number): string | undefined {
  if (missed === 'act') return 'was to act however late, and did not'
  if (dueAt === undefined) return undefined
  return at - dueAt < gap - uncertainty
    ? `was missed at ${at}, though its moment had only just passed`
    : undefined
}

/** By Berth, or by another who was faster: a guard that finds its work done is done. */
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
