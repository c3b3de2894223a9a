import type { Clock } from '#platform/platform.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { noticeOf } from '#shared/project/before-stop.ts'
import { setupOf } from '#shared/project/bounds.ts'
import { retriedCodes, retryPauses } from '#shared/project/retry.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { outputOf } from '#ssh/exec.ts'
import { busiest, loadQuestion, readLoads } from '#ssh/monitor/metrics.ts'
import { plainLastLine, plainOutput } from '#ssh/monitor/plain-output.ts'
import { lendRestic } from '#ssh/runs/lend-restic.ts'
import { endRun, mostAtOnce, type RetryOrder, readRunStatus, startRun } from '#ssh/runs/runs.ts'
import type { AccountContext } from '../account-context.ts'
import type { Departures } from '../departures/perform.ts'
import type { Departure } from '../departures/record.ts'
import { idleBelow } from '../instances/instance-state.ts'
import { overdueAlert, type RunAlerts, stuckAlert } from './alerts.ts'
import { nextProgram, nextStep } from './changes.ts'
import { observedRun, stuckSince } from './decide.ts'
import { begunBy, overdueTraining, savedBy } from './lost-time.ts'
import { processGone, processGoneFull, recordGone, setupFailed } from './messages.ts'
import { isOfProject, type ProjectRun, type Run } from './model.ts'
import type { RunNodes } from './nodes.ts'
import type { RunOutput } from './output.ts'
import { printedNumbers } from './printed-numbers.ts'
import { lastProgress } from './progress.ts'
import { intoProject, type RunMachines, remoteFolder, removeEnvironment } from './remote.ts'
import type { RunFolders } from './run-folders.ts'
import { retriedRun, storedRun } from './seeking.ts'
import { noteFiles, noteSetUp } from './setup-cache.ts'
import type { StoredRuns } from './stored-runs.ts'
import type { RunWatchdog } from './watchdog.ts'

/** Milliseconds for files to take their places. */
const takesOverWithin = 600_000

/** Asks for the free kilobytes where the files of runs are. */
const freeSpace = `df -Pk "$HOME" | awk 'NR == 2 { print $4 }'`
/** Kilobytes below which not even an exit code can be kept. */
const leastFree = 16

/** Seconds for which a checkpoint is overdue before the user is alerted. */
const overdueFor = 600

type ProgramEnd = { code: number; problem?: undefined } | { problem: Problem }

export interface ProgramParts {
  runs: StoredRuns
  machines: Pick<RunMachines, 'inside' | 'ask' | 'handOver'>
  watchdog: RunWatchdog
  alerts: RunAlerts
  /** The variables that an instance was rented with, as far as they are known. */
  rentedWith(instance: number | undefined): Record<string, string>
  outputOf(program: string): Promise<RunOutput>
  nodes: Pick<RunNodes, 'prepare'>
  folders: Pick<RunFolders, 'placeEnvironment' | 'sendResults' | 'storeFor' | 'alone'>
  departures: Pick<Departures, 'copyEnds' | 'bring'>
}

/** How long a program is followed. */
export interface Following {
  /** Whether to continue. */
  goesOn(): boolean
  /** Waits that many milliseconds, or until the run is hurried. */
  rest(milliseconds: number): Promise<void>
}

/** The programs of runs on their machines: a set-up, then the command. */
export class RunPrograms {
  readonly #context: AccountContext
  readonly #parts: ProgramParts
  /** Since when a run's checkpoint is seen to be overdue, in epoch seconds of the account's time. */
  readonly #overdueSince = new Map<string, number>()

  constructor(context: AccountContext, parts: ProgramParts) {
    this.#context = context
    this.#parts = parts
  }

  /**
   * Starts the run's present program, or follows it until it has ended or `following` says no. Resolves with the end of the
   * command, or with why the run fails.
   */
  async advance(run: Run, following: Following): Promise<ProgramEnd | undefined> {
    const { machines } = this.#parts
    return machines.inside(run, async (connection, view) => {
      if (run.begun) return this.#follow(run, connection, view, following)
      await this.#begin(run, connection, view)
      return this.#overBefore(run)
    })
  }

  /** The end of a command that had ended well on the machine that its run left: it isn't run again. */
  #overBefore({ id, step }: Run): ProgramEnd | undefined {
    const run = this.#parts.runs.find(id)
    return run?.code === 0 && run.step === step && !run.begun ? { code: 0 } : undefined
  }

  /** The id of the run's present program, on disk before it starts, so that it starts once. */
  async #programOf(run: Run): Promise<string> {
    const { newId, now } = this.#context
    const { runs } = this.#parts
    const field = run.step === 'setup' ? 'setupProgram' : 'program'
    const known = run[field]
    if (known !== undefined) return known
    const id = `x${newId()}`
    // A command that may have begun has its time on disk, from which checkpoints count.
    const startedAt = field === 'program' ? (run.startedAt ?? now()) : run.startedAt
    await runs.intend(run.id, { [field]: id, startedAt })
    return id
  }

  async #begin(run: Run, connection: Connection, view: InstanceView): Promise<void> {
    const { now } = this.#context
    const { clock, programs } = this.#context.platform
    const { watchdog, nodes, machines, folders, runs, rentedWith } = this.#parts
    const { note, nameOf } = this.#parts.alerts
    const { id, step, name } = run
    const spec = run.project?.spec
    const program = await this.#programOf(run)
    const order = await watchdog.ready(run, view)
    const text = step === 'setup' ? ((run.project && setupOf(run.project.spec)?.run) ?? '') : run.command
    const ofNode = step === 'running' && isOfProject(run) ? await nodes.prepare(run) : undefined
    const command = ofNode ?? text
    if (step === 'running' && isOfProject(run) && (run.sweep || run.project.spec.keep !== undefined)) {
      await machines.ask(run, 'sh -s', noteFiles(run))
      // Noted before: they are this run's alone.
      if (run.sweep) await folders.sendResults(run)
    }
    if (step === 'running' && isOfProject(run)) await this.#bring(run)
    const current = runs.find(id)
    if (current?.step !== step || this.#overBefore(run)) return
    if (isOfProject(run) && ofNode === undefined) await folders.placeEnvironment(run)
    const store = step === 'running' && isOfProject(current) ? await folders.storeFor(current) : undefined
    if (store) await lendRestic(connection, clock, programs)
    await startRun(connection, clock, program, {
      command,
      before: isOfProject(run) ? intoProject(run) : undefined,
      attempts: attemptsOf(run),
      notice: step === 'running' && spec?.before_stop ? noticeOf(spec.before_stop) : undefined,
      store,
      order,
      environment: rentedWith(run.instance),
    })
    const after = runs.find(id)
    // The run was ended meanwhile, so its program is ended, too.
    if (after?.step !== step) return endRun(connection, clock, program)
    await runs.update(id, {
      begun: true,
      told: undefined,
      reuses: step === 'running' ? undefined : after.reuses,
      begunAt: step === 'running' ? now() : after.begunAt,
      begunOn: step === 'running' ? run.instance : after.begunOn,
      startedAt: step === 'running' ? (after.startedAt ?? now()) : after.startedAt,
    })
    note(run, `Started ${step === 'setup' ? `the set-up of ${name}` : name} on ${nameOf(run)}`)
  }

  /** Copies what the machine that it left has newer. Nothing where the run doesn't move. */
  async #bring(run: ProjectRun): Promise<void> {
    const { now } = this.#context
    const { departures, runs, folders, machines } = this.#parts
    const { id, instance, copying } = run
    const until = departures.copyEnds(id)
    if (instance === undefined || until === undefined) return
    await runs.update(id, { copying: { since: copying?.since ?? now(), until } })
    const target = remoteFolder(run)
    const saved = await folders.alone(run, ({ signal }) => {
      const ask = (script: string) => machines.ask(run, 'sh -s', script, takesOverWithin)
      const handOver = (from: Departure, side: string, until: AbortSignal) =>
        machines.handOver(run, from, { target, side, signal: until })
      const hadEnded = async () => void (await runs.intend(id, { code: 0 }))
      return departures.bring(id, { instance, folder: target, ask, handOver, hadEnded }, signal)
    })
    const after = runs.find(id)
    if (after) await runs.update(id, saved === undefined ? { copying: undefined } : savedBy(after, saved))
  }

  async #seemsStuck(run: Run): Promise<void> {
    const { account, now } = this.#context
    const { runs } = this.#parts
    const { tell, nameOf } = this.#parts.alerts
    tell(run, stuckAlert(account, run, nameOf(run), now()))
    const change = nextStep(run, now())
    if (run.afterwardsIfStuck && change.step !== 'done')
      await runs.update(run.id, { ...change, endedAt: now() })
  }

  /** Alerts once where a checkpoint is overdue for a while: after a sleep of this computer one comes soon. */
  async #tellOfOverdue(id: string): Promise<void> {
    const { account, now } = this.#context
    const { runs, alerts } = this.#parts
    const run = runs.find(id)
    if (!run || !isOfProject(run)) return
    const seconds = overdueTraining(run, now())
    if (seconds === undefined) {
      this.#overdueSince.delete(id)
      if (!run.overdueAlerted) return
      alerts.withdraw(run)
      await runs.update(id, { overdueAlerted: undefined })
      return
    }
    const since = this.#overdueSince.get(id) ?? now()
    this.#overdueSince.set(id, since)
    if (run.overdueAlerted || now() - since < overdueFor) return
    // Stored before the alert, so that it is not repeated.
    await runs.update(id, { overdueAlerted: true })
    alerts.warn(
      overdueAlert(account, run, { seconds, where: alerts.nameOf(run), why: runs.checkpointProblem(id) }),
    )
  }

  /** Whether its machine has no room for files of Berth's. */
  async #isFull(run: Run): Promise<boolean> {
    const { machines } = this.#parts
    const free = await machines.ask(run, freeSpace).catch(() => '')
    return /^\d+$/.test(free) && Number(free) < leastFree
  }

  async #ended(run: Run, end: FollowedEnd): Promise<ProgramEnd | undefined> {
    const { machines, runs } = this.#parts
    if (isOfProject(run)) await machines.ask(run, removeEnvironment(run)).catch(() => undefined)
    if (end === 'lost') return { problem: (await this.#isFull(run)) ? processGoneFull : processGone }
    if (end === 'none') return { problem: recordGone }
    const { code } = end
    if (run.step !== 'setup') return { code }
    const before = runs.get(run.id)
    if (code !== 0) return { problem: setupFailed(code, before.lastLine) }
    // Without it, the next run there sets it up again.
    if (isOfProject(run)) await machines.ask(run, 'sh -s', noteSetUp(run)).catch(() => undefined)
    if (before.step === run.step)
      await runs.update(run.id, { ...nextProgram, step: 'running', isSetUp: true })
    return undefined
  }

  async #follow(
    run: Run,
    connection: Connection,
    view: InstanceView,
    following: Following,
  ): Promise<ProgramEnd | undefined> {
    const { now } = this.#context
    const { clock } = this.#context.platform
    const { watchdog, runs, outputOf } = this.#parts
    await watchdog.ready(run, view)
    await watchdog.tell(run, connection)
    const program = await this.#programOf(run)
    const end = await followProgram(run.id, {
      connection,
      program,
      clock,
      runs,
      output: await outputOf(program),
      now,
      ...following,
      stuck: one => this.#seemsStuck(one),
      checked: () => this.#tellOfOverdue(run.id),
    })
    return end === undefined ? undefined : this.#ended(run, end)
  }
}

/** How often its command may still be tried again, which counts on all its machines; undefined for never. */
function attemptsOf({ step, project, retried }: Run): RetryOrder | undefined {
  const retry = step === 'running' ? project?.spec.retry : undefined
  if (!retry || retry.elsewhere) return undefined
  const times = Math.max(0, retry.times - (retried?.before ?? 0))
  return { times, pause: retryPauses.first, codes: retriedCodes(retry) }
}

/** How a program ended: its exit code; `lost` if its process is gone without one; `none` if its folder is gone. */
type FollowedEnd = { code: number } | 'lost' | 'none'

interface Followed extends Following {
  connection: Connection
  /** The program's id on the machine. */
  program: string
  clock: Clock
  runs: StoredRuns
  output: RunOutput
  /** The account's time, epoch seconds. */
  now(): number
  /** Called when it starts to seem stuck. */
  stuck(run: Run): Promise<void>
  /** Called after each read. */
  checked(): Promise<void>
}

/** Milliseconds between two reads: with output, and at most without. */
const pauses = { flowing: 500, quiet: 5000 }

/**
 * Fetches a program's new output until it has ended and all of it is stored. Undefined when it should not continue.
 * Rejects when the connection is lost.
 */
async function followProgram(id: string, context: Followed): Promise<FollowedEnd | undefined> {
  const { connection, program, clock, runs, output, now } = context
  const readLoad = loadReader(connection, clock)
  let quiet = 0
  while (context.goesOn()) {
    const run = runs.find(id)
    if (!run) return undefined
    const load = readLoad(run)
    const status = await readRunStatus(connection, clock, program, output.next())
    runs.setProblem(id, undefined)
    if (status.state === 'none') return 'none'
    const over = status.state === 'ended' || status.state === 'lost'
    const all = output.next() + status.bytes.length >= status.size
    await output.append(status.bytes)
    const observed = observedRun(run, { bytes: status.bytes.length, load }, now())
    const { retried, begunAt, wholeAt, failure } = {
      ...storedRun(run, status.stored, now()),
      begunAt: begunBy(run, status.state, now()),
      retried: retriedRun(run, status.attempts, now()),
    }
    if (status.stored) runs.setCheckpointProblem(id, failure)
    await note(runs, id, output, { ...observed, retried, begunAt, wholeAt })
    await context.checked()
    if (over && all) return status.state === 'ended' ? { code: status.code ?? 255 } : 'lost'

    const after = runs.find(id)
    const since = after && stuckSince(after, now())
    if (after && since !== undefined && after.stuckSince === undefined) {
      await context.stuck((await runs.update(id, { stuckSince: since })) ?? after)
      continue
    }
    quiet = status.bytes.length > 0 ? 0 : quiet + 1
    if (status.bytes.length < mostAtOnce)
      await context.rest(Math.min(pauses.quiet, pauses.flowing * 2 ** Math.min(quiet, 8)))
  }
  return undefined
}

/** Milliseconds for a GPU's load, and the most bytes of the answer. */
const loadBounds = { within: 20_000, most: 65_536 }

/**
 * Gives the load of the busiest GPU, in percent, once after each reading of it; `unread` where one without a load may
 * be busier. The readings are on their own: one that hangs or fails gives no result, and nothing waits for it.
 */
function loadReader(connection: Connection, clock: Clock): (run: Run) => number | 'unread' | undefined {
  let askedAt: number | undefined
  let asking = false
  let latest: number | 'unread' | undefined

  async function ask(): Promise<void> {
    asking = true
    try {
      const { text } = await outputOf(connection, loadQuestion, { clock, ...loadBounds })
      const known = readLoads(text).filter(load => load !== undefined)
      latest = known.some(load => load >= idleBelow) ? Math.max(...known) : (busiest(text) ?? 'unread')
    } catch {
      latest = 'unread'
    } finally {
      asking = false
    }
  }

  return ({ stuckAfter }) => {
    const every = Math.min(30, stuckAfter / 4) * 1000
    const isDue = askedAt === undefined || clock.monotonic() - askedAt >= every
    if (stuckAfter > 0 && isDue && !asking) {
      askedAt = clock.monotonic()
      void ask()
    }
    const load = latest
    latest = undefined
    return load
  }
}

/** Bytes at the end that are searched for the last line and the last progress bar. */
const tail = 65_536

async function note(runs: StoredRuns, id: string, output: RunOutput, run: Run): Promise<void> {
  const { outputAt, loadAt, loadUnread, stuckSince: since, retried, begunAt, wholeAt } = run
  const { bytes } = await output.read(Math.max(0, output.next() - tail), tail)
  const text = bytes.toString('utf8')
  const plain = plainOutput(text)
  const lastLine = plainLastLine(text.trimEnd().split('\n').at(-1) ?? '')
  runs.note(id, {
    outputAt,
    loadAt,
    loadUnread,
    retried,
    begunAt,
    wholeAt,
    stuckSince: since,
    outputBytes: output.next(),
    droppedBytes: output.first(),
    lastLine: lastLine.slice(0, 200) || run.lastLine,
    progress: lastProgress(plain),
    printed: run.project && run.step === 'running' ? printedNumbers(plain, run.printed) : run.printed,
  })
}
