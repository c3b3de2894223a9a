import { SvelteMap } from 'svelte/reactivity'
import type { State } from '../../../../electron/contract/state.ts'
import type { Page } from '../../../berth/page.svelte.ts'
import { InstanceShells } from './shells.svelte.ts'

/** The page's shells by account and instance; they outlive the screen that shows them. */
class TerminalSessions {
  readonly #open = new SvelteMap<string, InstanceShells>()

  find(account: string, instance: number): InstanceShells | undefined {
    return this.#open.get(`${account}/${instance}`)
  }

  open(page: Page, account: string, instance: number): InstanceShells {
    const known = this.find(account, instance)
    if (known) return known
    const shells = new InstanceShells(page, account, instance)
    this.#open.set(`${account}/${instance}`, shells)
    return shells
  }

  /** The last of its shells was closed. */
  drop(account: string, instance: number): void {
    this.find(account, instance)?.dispose()
    this.#open.delete(`${account}/${instance}`)
  }

  /** Ends the shells of instances that are gone. */
  keepTo(state: State): void {
    for (const [key, shells] of this.#open) {
      const account = state.accounts[key.split('/')[0] ?? '']
      if (account?.instances[shells.instance]) continue
      shells.dispose()
      this.#open.delete(key)
    }
  }
}

export const sessions = new TerminalSessions()
