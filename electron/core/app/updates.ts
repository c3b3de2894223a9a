import type { UpdateView } from '../../contract/app/update.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Updater } from '../../ports/updater.ts'
import type { Store } from '../state/store.ts'
import { placeOf } from './problems.ts'

export interface Updates {
  /** These reject with `no_updates` where there is nobody to ask, and with `update_not_found` and `update_not_fetched` out of turn. */
  check(): Promise<void>
  fetch(): Promise<void>
  install(): Promise<void>
  close(): void
}

/** Milliseconds until the first check, so that a start is not slowed, and between two. */
const firstCheck = 60_000
const betweenChecks = 24 * 3_600_000

const failed: Problem = {
  code: 'update_failed',
  message: 'The update could not be had.',
  advice: 'Try again later; the log says more.',
}

/** Looks once a day. `updater` is undefined while no update address is set: then nobody is asked anything, ever. */
export function openUpdates(
  store: Store,
  clock: Clock,
  log: Pick<Log, 'line'>,
  updater: Updater | undefined,
): Updates {
  let cancel: () => void = () => undefined
  if (updater) {
    show({ status: 'none' })
    later(firstCheck)
  }

  function show(update: UpdateView): void {
    store.change(draft => {
      draft.update = update
    })
  }

  function later(milliseconds: number): void {
    cancel = clock.after(milliseconds, () => {
      void check().catch(() => undefined)
    })
  }

  function known(): Updater {
    if (!updater)
      throw new BerthError({
        code: 'no_updates',
        message: 'This Berth was built without an update address, so it asks nobody.',
        advice: 'Get a newer version where you got this one.',
      })
    return updater
  }

  function fail(error: unknown): never {
    log.line(`update: ${error instanceof Error ? `${placeOf(error)} ${error.message}` : String(error)}`)
    show({ status: 'failed', problem: failed })
    throw new BerthError(failed)
  }

  async function check(): Promise<void> {
    const asked = known()
    const { update } = store.get()
    // What was found stays found until it is in place.
    if (update && ['checking', 'fetching', 'ready'].includes(update.status)) return
    cancel()
    show({ status: 'checking' })
    try {
      const version = await asked.check()
      show(version === undefined ? { status: 'none', at: clock.now() } : { status: 'available', version })
    } catch (error) {
      fail(error)
    } finally {
      later(betweenChecks)
    }
  }

  async function fetch(): Promise<void> {
    const asked = known()
    const { update } = store.get()
    if (update?.status !== 'available')
      throw new BerthError({
        code: 'update_not_found',
        message: 'There is no update to fetch.',
        advice: 'Check for one first.',
      })
    const { version } = update
    let shown = 0
    show({ status: 'fetching', version, percent: 0 })
    try {
      await asked.fetch(exact => {
        const percent = Math.min(100, Math.max(0, Math.floor(exact)))
        if (percent <= shown) return
        shown = percent
        show({ status: 'fetching', version, percent })
      })
      show({ status: 'ready', version })
    } catch (error) {
      fail(error)
    }
  }

  return {
    check,
    fetch,
    async install() {
      const asked = known()
      if (store.get().update?.status !== 'ready')
        throw new BerthError({
          code: 'update_not_fetched',
          message: 'There is no update to install.',
          advice: 'Fetch it first.',
        })
      asked.install()
    },
    close: () => cancel(),
  }
}
