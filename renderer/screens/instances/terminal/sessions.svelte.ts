import { untrack } from 'svelte'
import { SvelteMap } from 'svelte/reactivity'
import { now } from '#renderer/bridge/now.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { canGetIn } from '#shared/derived.ts'
import type { State } from '#shared/state.ts'
import { InstanceShells } from './shells.svelte.ts'

/** Milliseconds between two ticks of the page's clock beyond which the computer or the page was asleep. */
const slept = 10_000

/** The page's shells by account and instance. They stay open when the user goes to another screen. */
class TerminalSessions {
  readonly #open = new SvelteMap<string, InstanceShells>()
  #followed: Page | undefined

  find(account: string, instance: number): InstanceShells | undefined {
    return this.#open.get(`${account}/${instance}`)
  }

  open(page: Page, account: string, instance: number): InstanceShells {
    this.#follow(page)
    const session = this.find(account, instance)
    if (session) return session
    const shells = new InstanceShells(page, account, instance)
    this.#open.set(`${account}/${instance}`, shells)
    return shells
  }

  /** Closes the rest of an instance's shells once the last tab was closed. */
  drop(account: string, instance: number): void {
    this.find(account, instance)?.dispose()
    this.#open.delete(`${account}/${instance}`)
  }

  /** Runs from the first shell on: closes shells whose instance has gone, and reconnects those that can connect again. */
  #follow(page: Page): void {
    if (this.#followed === page) return
    this.#followed = page
    const comeBack = () => {
      for (const shells of this.#open.values()) shells.comeBack()
    }
    const seen = () => {
      if (!document.hidden) comeBack()
    }
    addEventListener('online', comeBack)
    document.addEventListener('visibilitychange', seen)
    let tick = Date.now()
    $effect.root(() => {
      $effect(() => {
        const { state } = page
        if (state) untrack(() => this.#keepTo(state))
      })
      $effect(() => {
        if (page.reach === 'connected') untrack(comeBack)
      })
      $effect(() => {
        const woke = now.ms - tick > slept
        tick = now.ms
        if (woke) untrack(comeBack)
      })
    })
  }

  #keepTo(state: State): void {
    for (const [key, shells] of this.#open) {
      const account = state.accounts[key.split('/')[0] ?? '']
      const instance = account?.instances[shells.instance]
      if (instance) shells.follow(canGetIn(instance))
      else {
        shells.dispose()
        this.#open.delete(key)
      }
    }
  }
}

export const sessions = new TerminalSessions()
