import type { PageLink, RunningBerth } from '#core/running.ts'
import { NativeCalls } from '#platform/native-calls.ts'

/**
 * Milliseconds that a native call gets from its beginning: a busy computer takes seconds for what else takes none, and
 * one that is older waits for the user.
 */
const patience = 5000
/** Milliseconds that even an older one gets to return before the process ends. */
const leastPatience = 500

/** The steps that end Berth, run in reverse order of their addition. */
export class Shutdown {
  /** All of the process: it exits once they have returned. */
  readonly nativeCalls = new NativeCalls()
  readonly #steps: (() => unknown)[] = []
  readonly #limit: number
  #ended: Promise<void> | undefined

  /** `limit`: milliseconds for all steps together; then the rest is abandoned. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Adds the function that ends something. */
  add(end: () => unknown): void {
    this.#steps.push(end)
  }

  /** Ends everything and then the process: by `leave`, or by SIGKILL where a native call doesn't return. */
  async exit(leave: () => void = () => process.exit(0)): Promise<void> {
    await this.end()
    this.nativeCalls.close()
    const { underWay } = this.nativeCalls
    const waits = [...underWay.values()].map(begun => patience + begun - performance.now())
    await within(Math.max(leastPatience, ...waits), Promise.allSettled(underWay.keys()))
    if (underWay.size > 0) process.kill(process.pid, 'SIGKILL')
    else leave()
  }

  /** Runs all steps once; a failing step does not stop the others. */
  end(): Promise<void> {
    this.#ended ??= this.#endAll()
    return this.#ended
  }

  async #endAll(): Promise<void> {
    const all = async () => {
      // Also ends steps added meanwhile by a start still under way.
      for (let end = this.#steps.pop(); end !== undefined; end = this.#steps.pop())
        await Promise.resolve(end()).catch(() => undefined)
    }
    await within(this.#limit, all())
  }
}

/** Waits for work, at most so many milliseconds. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
}

/** Ends the process in order on a signal; a second signal (from the terminal and from npm) changes nothing. */
export function endOnSignals(shutdown: Shutdown): void {
  const end = () => void shutdown.exit()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, end)
  }
  // The program of Berth's that started this one is gone.
  process.on('disconnect', end)
}

/** The part of Berth that the page's server and the command's socket use. */
type Asked = Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>

/**
 * A stand-in while Berth starts, for pages and commands that connect early: their requests wait for it, in order. After
 * a failed start their messages get no answer, and requests reject.
 */
export function berthToCome(starting: Promise<Asked>): Asked {
  return {
    connectPage(...page) {
      const link = starting.then(berth => berth.connectPage(...page))
      let there: PageLink | undefined
      link.then(found => (there = found)).catch(() => undefined)
      return {
        isBusy: () => there?.isBusy() ?? true,
        receive: message => void link.then(there => there.receive(message)).catch(() => undefined),
        drained: () => void link.then(there => there.drained()).catch(() => undefined),
        close: () => void link.then(there => there.close()).catch(() => undefined),
      }
    },
    sshArguments: async on => (await starting).sshArguments(on),
    registerProject: async folder => (await starting).registerProject(folder),
  }
}
