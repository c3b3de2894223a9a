import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { Submission } from '#renderer/components/answers/submission.svelte.ts'

/** The best-known public service that Berth is a client of. */
export const vast = {
  name: 'Vast.ai',
  baseUrl: 'https://console.vast.ai',
  /** Where its users make keys. */
  keys: 'https://cloud.vast.ai/manage-keys/',
}

/** The connect dialog's input, which survives closing it until the page is reloaded. */
class ConnectDraft {
  baseUrl = $state(vast.baseUrl)
  key = $state('')
  name = $state('')
  /** The address the user typed, while the preset's is shown instead. */
  #typed = ''

  get service(): ConnectService {
    return serviceAt(this.baseUrl)
  }
  /** Fills in the preset's address, which the user can still change. */
  set service(service: ConnectService) {
    if (service === this.service) return
    if (service === 'vast') this.#typed = this.baseUrl
    this.baseUrl = service === 'vast' ? vast.baseUrl : this.#typed
  }

  clear(): void {
    this.baseUrl = vast.baseUrl
    this.key = ''
    this.name = ''
    this.#typed = ''
  }
}

export const connectDraft = new ConnectDraft()

/** The form's service: the preset, or another one whose address is typed. */
type ConnectService = 'vast' | 'other'

function serviceAt(baseUrl: string): ConnectService {
  return baseUrl.trim().replace(/\/$/, '') === vast.baseUrl ? 'vast' : 'other'
}

/** The service's name where it is known, else the account's. */
export function serviceName({ baseUrl, name }: { baseUrl: string; name: string }): string {
  return serviceAt(baseUrl) === 'vast' ? vast.name : name
}

/** The scopes that Berth needs of a key and why, the required ones first. */
export const wantedPermissions: readonly { name: string; why: string }[] = [
  { name: 'instance_read', why: 'see your instances and their logs' },
  { name: 'instance_write', why: 'rent, start, stop and destroy' },
  { name: 'user_read', why: 'show your credit, and whose key it is' },
  { name: 'misc', why: 'search offers' },
  { name: 'billing_read', why: 'show the actual charges instead of an estimate' },
  { name: 'user_write', why: 'change keys, templates and webhooks; leave it out if you do that elsewhere' },
]

/** Connects the form's account and shows it. */
export class ConnectForm {
  readonly sending = new Submission()
  readonly #page: Page
  readonly #connected: () => void

  constructor(page: Page, connected: () => void = () => undefined) {
    this.#page = page
    this.#connected = connected
  }

  /** Connects the account; the form shows a refusal from `sending`. */
  async connect(): Promise<void> {
    const { berth } = this.#page
    const name = connectDraft.name.trim()
    let account = ''
    const connected = await this.sending.send(async () => {
      account = await berth.connectAccount({
        baseUrl: connectDraft.baseUrl,
        key: connectDraft.key,
        ...(name && { name }),
      })
      await berth.showAccount({ account })
    })
    if (!connected) return
    connectDraft.clear()
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
