import { SvelteMap } from 'svelte/reactivity'
import type { State } from '../../../../electron/contract/state.ts'
import type { Page } from '../../../berth/page.svelte.ts'
import { TerminalSession } from './session.svelte.ts'

/** The page's shells by account and instance; they outlive the screen that shows them. */
class TerminalSessions {
  readonly #open = new SvelteMap<string, TerminalSession>()

  find(account: string, instance: number): TerminalSession | undefined {
    return this.#open.get(`${account}/${instance}`)
  }

  open(page: Page, account: string, instance: number): TerminalSession {
    const known = this.find(account, instance)
    if (known) return known
    const session = new TerminalSession(page, account, instance)
    this.#open.set(`${account}/${instance}`, session)
    return session
  }

  /** Ends the shells of instances that are gone. */
  keepTo(state: State): void {
    for (const [key, session] of this.#open) {
      const account = state.accounts[key.split('/')[0] ?? '']
      if (account?.instances[session.instance]) continue
      session.dispose()
      this.#open.delete(key)
    }
  }
}

export const sessions = new TerminalSessions()
