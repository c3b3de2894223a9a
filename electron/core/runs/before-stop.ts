import { sleep } from '#platform/tasks.ts'
import { noticeOf } from '#shared/project/before-stop.ts'
import { dearestOf } from '#shared/project/bounds.ts'
import { endRun, tellOfStop } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { asksForNotice, isOfProject, type ProjectRun, type Run, runCostBy } from './model.ts'
import type { Inside } from './remote.ts'
import type { StoredRuns } from './stored-runs.ts'

export type BeforeStops = ReturnType<typeof createBeforeStops>

/** Milliseconds between two looks at whether it has had its time: more and more. */
const lookEvery = { first: 1000, most: 5000 }

/** Tells commands that their machine is about to be stopped, as their files say. */
export function createBeforeStops(
  { platform: { clock }, ending, now }: Pick<AccountContext, 'platform' | 'ending' | 'now'>,
  { runs, inside }: { runs: Pick<StoredRuns, 'all' | 'find' | 'update'>; inside: Inside },
) {
  const underWay = new Map<string, Promise<void>>()

  /** Those on an instance whose command runs and asked for it. */
  const toTell = (instance: number): ProjectRun[] =>
    runs
      .all()
      .filter(isOfProject)
      .filter(run => run.instance === instance && asksForNotice(run))

  /** Resolves once it had its time. Never rejects: a machine that cannot be reached is stopped, too. */
  async function tell(run: ProjectRun): Promise<void> {
    const { id, program } = run
    const before = run.project.spec.before_stop
    if (!before || program === undefined) return
    const at = now()
    // After a kill the rest of its time counts on.
    const until =
      run.told && run.told.until > at ? run.told.until : at + affordable(run, at, noticeOf(before).seconds)
    if (until <= at) return
    await runs.update(id, { told: { since: run.told?.since ?? at, until } })
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, ending])
    const asking = (async () => {
      for (let looks = 1; asksForNotice(runs.find(id) ?? run); looks += 1) {
        const hasHad = await inside(run, connection => tellOfStop(connection, clock, program))
        if (hasHad !== false) return
        await sleep(clock, Math.min(looks * lookEvery.first, lookEvery.most), signal)
      }
    })()
    const ends = sleep(clock, (until - at) * 1000, signal)
    await Promise.race([asking, ends]).catch(() => undefined)
    over.abort()
    await Promise.allSettled([ends])
  }

  function told(run: ProjectRun): Promise<void> {
    const telling = underWay.get(run.id) ?? tell(run).finally(() => underWay.delete(run.id))
    underWay.set(run.id, telling)
    return telling
  }

  return {
    /** Tells the commands on an instance that it is about to be stopped, and resolves once they had their time. */
    async ofInstance(instance: number): Promise<void> {
      await Promise.all(toTell(instance).map(told))
    },
    /** The same for a stop by the user, whose second request does not wait. */
    async byUser(instance: number): Promise<void> {
      const all = toTell(instance)
      if (!all.some(({ id }) => underWay.has(id))) await Promise.all(all.map(told))
    },
    /** Ends a command that the user ends, after its time; at once where it was told before. False where it asks for none. */
    async end(run: Run): Promise<boolean> {
      if (!isOfProject(run) || !asksForNotice(run) || underWay.has(run.id)) return false
      await told(run)
      await inside(run, connection => endRun(connection, clock, run.program ?? '')).catch(() => undefined)
      await runs.update(run.id, { told: undefined })
      return true
    },
  }
}

/** Seconds of that many for which what the run may cost lasts. */
function affordable(run: ProjectRun, at: number, seconds: number): number {
  const { most, spent, project } = run
  const perHour = spent?.perHour || dearestOf(project.spec, project.price)
  if (most === undefined || !perHour) return seconds
  return Math.max(0, Math.min(seconds, ((most - runCostBy(run, at)) / perHour) * 3600))
}
