import { folderOf, lastName } from '../../contract/instance/file-names.ts'
import type { FileTransferView } from '../../contract/instance/files.ts'
import type { InstanceView } from '../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { ServiceError } from '../../service/service-error.ts'
import { downloadJob } from '../../ssh/files/transfer/download.ts'
import { settleRun } from '../../ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import { problemOf } from '../app/problems.ts'
import { isDone, keepsItFrom } from './decide.ts'
import type { Loops } from './loops.ts'
import type { Run } from './model.ts'
import type { RunParts } from './parts.ts'

/** What is heard of a fetching. */
interface FetchEvents {
  /** It has ended, well or not; again where the user resumes it after a failure. */
  over(ended: FileTransferView): void
  /** It got in, or could not; it goes on trying once it was in. */
  entered(): void
  shutOut(problem: Problem): void
}

/**
 * Fetches what the run names into its folder on this machine, as one of the transfers that the page shows: its id.
 */
export async function beginFetch(
  context: AccountContext,
  run: Run,
  view: InstanceView,
  { over, entered, shutOut }: FetchEvents,
): Promise<string> {
  const { account, access, machine, fileTransfers, store } = context
  const path = run.fetch ?? ''
  const into = await machine.downloads.at(run.into ?? machine.downloads.own)
  let changed: () => void = () => undefined
  const job = downloadJob({ paths: [path], into, system: machine.platform, changed: () => changed() })
  const begun = fileTransfers.start({
    target: { account, instance: view },
    by: 'berth',
    direction: 'down',
    folder: folderOf(path),
    name: lastName(path),
    job,
    async connect() {
      const instance = store.get().accounts[account]?.instances[view.id]
      if (!instance) throw new BerthError(instanceGone)
      try {
        const lease = await access.connect({ account, instance, client: context.client() })
        entered()
        return lease
      } catch (error) {
        shutOut(problemOf(error))
        throw error
      }
    },
    over,
  })
  changed = () => fileTransfers.progressed(begun.id)
  return begun.id
}

/** Why what arrived is not enough to go on with; undefined when it is. */
export function fetchProblem(ended: FileTransferView, run: Run): Problem | undefined {
  if (ended.step === 'cancelled') return cancelled
  if (ended.step !== 'done') return ended.problem ?? cancelled
  if (ended.leftOut > 0 && run.afterwards === 'destroy')
    return {
      code: 'left_out',
      message: `${ended.leftOut} of its items were left out, such as links and devices, and would be lost.`,
      advice: 'Look at what is here, then destroy the instance yourself.',
    }
  return undefined
}

/**
 * Stops or destroys the instance, on what a look just made shows; done already counts as done. Rejects with why it
 * could not be, to be tried again. `asks` is called right before the service is asked; false leaves it as it is, and is
 * the answer then.
 */
export async function actOn(
  context: AccountContext,
  instance: number,
  action: 'stop' | 'destroy',
  asks: () => boolean,
): Promise<boolean> {
  const { account, store } = context
  await context.poll()
  const seen = store.get().accounts[account]
  if (seen?.connection.status !== 'online') throw new BerthError(notSeen)
  if (isDone(action, seen.instances[instance]?.state)) return true
  if (!asks()) return false
  const { instances } = context.client()
  const options = { signal: context.ending }
  try {
    if (action === 'stop') await instances.stop(instance, options)
    else await instances.destroy(instance, options)
  } catch (error) {
    // Gone already: somebody else was faster.
    if (!(error instanceof ServiceError && error.status === 404)) throw error
  }
  await context.poll()
  return true
}

/** Stops or destroys the instances of runs that have ended. */
export interface AfterRun {
  /** Does what was chosen, or what can be done of it now. Waits for a while where another run goes on there. */
  act(run: Run): Promise<void>
  /** Whether the service is being asked for what was chosen. */
  isAsked(id: string): boolean
}

export function createAfterRun(
  context: AccountContext,
  { runs, inside, telling }: RunParts,
  loops: Loops,
): AfterRun {
  const asked = new Set<string>()
  return {
    isAsked: id => asked.has(id),
    async act(run) {
      const { id, instance, afterwards } = run
      if (instance === undefined || afterwards === 'nothing') {
        await runs.update(id, { step: 'over' })
        return
      }
      const isOther = (one: Run) => one.id !== id && one.instance === instance
      const other = runs.all().find(one => isOther(one) && keepsItFrom(one, afterwards))
      if (other) {
        runs.setProblem(id, otherRun(other, afterwards))
        await loops.until(id, undefined)
        return
      }
      const where = telling.nameOf(run)
      // A stop ends the watchdog, too: what it is to do is over by the time that a start brings it back.
      if (run.watchdog && afterwards === 'stop')
        await inside(run, connection => settleRun(connection, context.machine.clock, id, 'served')).catch(
          () => undefined,
        )
      try {
        const done = await actOn(context, instance, afterwards, () => {
          const now = runs.find(id)
          if (now?.step !== 'acting' || now.afterwards !== afterwards) return false
          asked.add(id)
          return true
        })
        if (!done) return
        await runs.update(id, { step: 'over', acted: afterwards })
      } finally {
        asked.delete(id)
      }
      telling.note(
        run,
        `${afterwards === 'stop' ? 'Stopped' : 'Destroyed'} ${where}, since ${run.name} has ended`,
      )
    },
  }
}

function otherRun({ name }: Run, afterwards: 'stop' | 'destroy'): Problem {
  const done = afterwards === 'stop' ? 'stopped' : 'destroyed'
  return {
    code: 'other_run',
    message: `${name} still goes on there: the instance is ${done} after that.`,
  }
}

const cancelled = {
  code: 'cancelled',
  message: 'The fetching was cancelled.',
  advice: 'Try again, or end the instance yourself.',
}
const instanceGone = {
  code: 'no_such_instance',
  message: 'The instance is no longer on the account.',
}
const notSeen = {
  code: 'not_seen',
  message: 'The service does not answer now, and Berth acts only on what it has just seen.',
  advice: 'It tries again by itself.',
}
