import { dialogs } from '#renderer/berth/dialogs.svelte.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { Sending } from '#renderer/components/answers/sending.svelte.ts'
import { connectDraft as draft } from './connectDraft.svelte.ts'

/** Connects the form's account and shows it. */
export class ConnectForm {
  readonly sending = new Sending()
  readonly #page: Page
  readonly #connected: () => void

  constructor(page: Page, connected: () => void = () => undefined) {
    this.#page = page
    this.#connected = connected
  }

  /** Connects the account; the form shows a refusal from `sending`. */
  async connect(): Promise<void> {
    const { berth } = this.#page
    const name = draft.name.trim()
    let account = ''
    const connected = await this.sending.send(async () => {
      account = await berth.connectAccount({ baseUrl: draft.baseUrl, key: draft.key, ...(name && { name }) })
      await berth.showAccount({ account })
    })
    if (!connected) return
    draft.clear()
    this.#connected()
    if (await this.#isRefused(account)) {
      this.#page.say('One more step', 'The service requires a two-factor login before you can use this key.')
      dialogs.show({ kind: 'login' })
    } else this.#page.say('Account connected.')
  }

  /**
   * Whether the service accepts the key for two-factor calls alone, until the login. One that may not read the user may
   * still see the instances: the first poll tells.
   */
  async #isRefused(account: string): Promise<boolean> {
    const connected = () => this.#page.state?.accounts[account]
    if (connected()?.userId !== undefined) return false
    await this.#page.berth.refresh({ account }).catch(() => undefined)
    return connected()?.connection.status === 'refused'
  }
}
