import { idleBelow } from '#core/instances/instance-state.ts'
import type { Clock } from '#ports/clock.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { outputOf } from '#ssh/exec.ts'
import { busiest, loadQuestion, readLoads } from '#ssh/monitor/metrics.ts'
import { plainLastLine, plainOutput } from '#ssh/monitor/plain-output.ts'
import { mostAtOnce, readRunStatus } from '#ssh/runs/runs.ts'
import { observedRun, stuckSince } from '../decide.ts'
import type { Run } from '../model.ts'
import type { RunOutput } from '../output/output.ts'
import { lastProgress } from '../output/progress.ts'
import type { StoredRuns } from '../stored-runs.ts'

/** How a run ended: its exit code; `lost` if its process is gone without one; `none` if its folder is gone. */
export type RunEnd = { code: number } | 'lost' | 'none'

interface Following {
  connection: Connection
  clock: Clock
  runs: StoredRuns
  output: RunOutput
  /** The account's time, epoch seconds. */
  now(): number
  /** Whether to continue. */
  goesOn(): boolean
  /** Waits that many milliseconds, or until woken. */
  rest(milliseconds: number): Promise<void>
  /** Called when it starts to seem stuck. */
  stuck(run: Run): Promise<void>
}

/** Milliseconds between two reads: with output, and at most without. */
const pauses = { flowing: 500, quiet: 5000 }

/**
 * Fetches a run's new output until the run has ended and all of it is stored. Undefined when it should not continue.
 * Rejects when the connection is lost.
 */
export async function followRun(id: string, context: Following): Promise<RunEnd | undefined> {
  const { connection, clock, runs, output, now } = context
  const readLoad = loadReader(connection, clock)
  let quiet = 0
  while (context.goesOn()) {
    const run = runs.find(id)
    if (!run) return undefined
    const load = readLoad(run)
    const status = await readRunStatus(connection, clock, id, output.next())
    runs.setProblem(id, undefined)
    if (status.state === 'none') return 'none'
    const over = status.state === 'ended' || status.state === 'lost'
    const all = output.next() + status.bytes.length >= status.size
    await output.append(status.bytes)
    await note(runs, id, output, observedRun(run, { bytes: status.bytes.length, load }, now()))
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
 * Gives the load of the busiest GPU, in percent, once after each reading of it; `unread` where one without a load may be
 * busier. The readings are on their own: one that hangs or fails tells nothing, and nothing waits for it.
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
  const { outputAt, loadAt, loadUnread, stuckSince: since } = run
  const { bytes } = await output.read(Math.max(0, output.next() - tail), tail)
  const text = bytes.toString('utf8')
  const lastLine = plainLastLine(text.trimEnd().split('\n').at(-1) ?? '')
  runs.note(id, {
    outputAt,
    loadAt,
    loadUnread,
    stuckSince: since,
    seen: output.next(),
    dropped: output.first(),
    lastLine: lastLine.slice(0, 200) || run.lastLine,
    progress: lastProgress(plainOutput(text)),
  })
}
