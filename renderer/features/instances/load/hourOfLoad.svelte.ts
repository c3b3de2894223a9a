import { untrack } from 'svelte'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Course, LoadHistory } from '#contract/instance/load.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { courseNow, extendHistory, loadNow, shownMinutes } from './extendHistory.ts'

/** The last hour of load of all instances shown: fetched once, then extended from State. */
export class HourOfLoad {
  #history: LoadHistory | undefined = $state.raw()
  #account: string | undefined
  readonly #page: Page
  #asking = 0

  constructor(page: Page) {
    this.#page = page
  }

  readonly #minute = $derived.by(() => Math.floor(this.#page.figuresAt / 60))
  /** The account shown. */
  readonly #seen = $derived.by(() => {
    const { account, reach } = this.#page
    return reach === 'connected' && account?.connection.status === 'online' ? account.id : undefined
  })

  /** Extends the history each minute; to be called in an effect. */
  follow(): void {
    const [minute, seen] = [this.#minute, this.#seen]
    if (seen === undefined) return
    untrack(() => {
      const before = this.#account === seen ? this.#history : undefined
      const next = before && extendHistory(before, minute, this.#page.account?.instances ?? {})
      if (next) this.#history = next
      else void this.#ask(seen)
    })
  }

  of(instance: InstanceView): Course {
    return courseNow(this.#history?.load[instance.id], loadNow(instance))
  }

  async #ask(account: string): Promise<void> {
    const asking = ++this.#asking
    if (this.#account !== account) this.#history = undefined
    this.#account = account
    try {
      const history = await this.#page.berth.instanceLoad({ account, minutes: shownMinutes })
      if (asking === this.#asking) this.#history = history
    } catch {
      // The page still shows what State brings from now on.
      if (asking === this.#asking) this.#history = { minute: Math.floor(this.#page.figuresAt / 60), load: {} }
    }
  }
}
