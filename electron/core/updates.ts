import type { Clock, Log, Updater } from '#platform/platform.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { UpdateView } from '#shared/state.ts'
import { placeOf } from './bridge/problems.ts'
import type { Store } from './storage/store.ts'

export type Updates = ReturnType<typeof openUpdates>

/** Milliseconds before the first check, so that it does not slow the start, and between checks. */
const firstCheck = 60_000
const betweenChecks = 24 * 3_600_000

const failed: Problem = {
  code: 'update_failed',
  message: 'The update couldn’t be downloaded.',
  advice: 'Try again later. The log has details.',
}

/** Checks once a day. `updater` is undefined without an update address: then it sends no requests. */
export function openUpdates(
  store: Store,
  clock: Clock,
  log: Pick<Log, 'line'>,
  updater: Updater | undefined,
) {
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

  function knownUpdater(): Updater {
    if (!updater)
      throw new BerthError({
        code: 'no_updates',
        message: 'This build has no update address, so it can’t check for updates.',
        advice: 'Look for a newer version where you got this one.',
      })
    return updater
  }

  function fail(error: unknown): never {
    log.line(`update: ${error instanceof Error ? `${placeOf(error)} ${error.message}` : String(error)}`)
    show({ status: 'failed', problem: failed })
    throw new BerthError(failed)
  }

  async function check(): Promise<void> {
    const updater = knownUpdater()
    const { update } = store.get()
    // A downloaded update stays ready until it is installed.
    if (update && ['checking', 'fetching', 'ready'].includes(update.status)) return
    cancel()
    show({ status: 'checking' })
    try {
      const version = await updater.check()
      show(version === undefined ? { status: 'none', at: clock.now() } : { status: 'available', version })
    } catch (error) {
      fail(error)
    } finally {
      later(betweenChecks)
    }
  }

  async function fetch(): Promise<void> {
    const updater = knownUpdater()
    const { update } = store.get()
    if (update?.status !== 'available')
      throw new BerthError({
        code: 'update_not_found',
        message: 'There’s no update to download.',
        advice: 'Check for one first.',
      })
    const { version } = update
    let shown = 0
    show({ status: 'fetching', version, percent: 0 })
    try {
      await updater.fetch(exact => {
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
    /** All reject with `no_updates` where no address is set, or `update_not_found`, `update_not_fetched` out of order. */
    check,
    fetch,
    async install(): Promise<void> {
      const updater = knownUpdater()
      if (store.get().update?.status !== 'ready')
        throw new BerthError({
          code: 'update_not_fetched',
          message: 'There’s no update to install.',
          advice: 'Download it first.',
        })
      updater.install()
    },
    close: (): void => cancel(),
  }
}
