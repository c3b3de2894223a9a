import { randomFill } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import type { RunningBerth } from '#core/running.ts'
import type { Files, Freeze } from '#platform/platform.ts'
import type { AccountView, State } from '#shared/state.ts'
import { linkAmong } from '../flags.ts'
import type { Shutdown } from '../shutdown.ts'
import { freezesIn, freezesVariable } from './freeze.ts'
import { slots, tickEvery, type Watched } from './watched.ts'

interface HeartbeatOptions {
  files: Pick<Files, 'path'>
  /** The built `watcher.ts`. */
  watcher: URL
  /** How to start this Berth again. */
  program: string
  args: readonly string[]
}

/** Takes the freezes from the environment, which shells and programs of Berth's inherit. */
function takeFreezes(env: NodeJS.ProcessEnv): Freeze[] {
  const freezes = freezesIn(env)
  delete env[freezesVariable]
  return freezes
}

/**
 * Tells of the freeze after which Berth has started anew, and watches this thread from another one, which takes 8 MB,
 * once there is something that Berth does without the user.
 */
export function startHeartbeat(
  berth: Pick<RunningBerth, 'state' | 'onChange' | 'noteFreeze'>,
  shutdown: Shutdown,
  options: HeartbeatOptions,
): void {
  const before = takeFreezes(process.env)
  const last = before.at(-1)
  if (last) berth.noteFreeze(last)
  const forget = berth.onChange(check)
  let isWatched = false
  check(berth.state())

  function check(state: State): void {
    if (isWatched || !Object.values(state.accounts).some(hasAutomation)) return
    isWatched = true
    queueMicrotask(forget)
    const { beats, end } = beatAlways(berth.noteFreeze)
    shutdown.add(end)
    // Without a watcher Berth works as before.
    void watch(beats, before, options).then(shutdown.add.bind(shutdown), () => undefined)
  }
}

function hasAutomation({ limits, rentals, runs, recoveries, watches, waiting }: AccountView): boolean {
  return [limits, rentals, runs, recoveries, watches, waiting].some(
    records => Object.keys(records).length > 0,
  )
}

/**
 * Gives signs of life, and tells of a freeze that ended by itself. Each goes by way of the few threads that all files
 * share: once calls that never return hold them, as to a disk that is away, nothing can be stored any more.
 */
function beatAlways(onThaw: (freeze: Freeze) => void) {
  const beats = new Int32Array(new SharedArrayBuffer(4 * Object.keys(slots).length))
  const beat = () => randomFill(new Uint8Array(1), live)
  function live(): void {
    Atomics.add(beats, slots.count, 1)
    Atomics.store(beats, slots.debugged, inspector.url() === undefined ? 0 : 1)
    const seconds = Atomics.exchange(beats, slots.silence, 0)
    if (seconds > 0) onThaw({ at: Date.now(), seconds, restarted: false })
  }
  beat()
  const beating = setInterval(beat, tickEvery)
  beating.unref()
  return { beats, end: () => clearInterval(beating) }
}

/** Starts the other thread; gives the function that ends it. */
async function watch(
  beats: Watched['beats'],
  before: readonly Freeze[],
  { files, watcher, program, args }: HeartbeatOptions,
): Promise<() => Promise<unknown>> {
  // By its text, since a package's files are in an archive that only Electron's main thread can read.
  const text = await readFile(watcher, 'utf8')
  const workerData: Watched = {
    beats,
    before,
    log: files.path('logs/berth.log'),
    output: files.path('logs/start.txt'),
    program,
    args: args.filter(arg => arg !== linkAmong(args)),
  }
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(text)}`), {
    name: 'heartbeat',
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 },
  })
  thread.unref()
  thread.on('error', () => undefined)
  return () => thread.terminate()
}
