import type { Page } from '#renderer/bridge/page.svelte.ts'
import type { RegistryLogin } from '#shared/market/rent-request.ts'

/** An image's name without its tag and digest. */
export function untagged(image: string): string {
  const name = image.trim().split('@')[0] ?? ''
  const colon = name.lastIndexOf(':')
  return colon > name.lastIndexOf('/') ? name.slice(0, colon) : name
}

/** The login that is typed, once it is whole. */
function wholeLogin({ server, user, token }: RegistryLogin): RegistryLogin | undefined {
  const login = { server: server.trim(), user: user.trim(), token: token.trim() }
  return Object.values(login).every(text => text !== '') ? login : undefined
}

/** What the service reads in registries before a rental. Nothing waits for it, and what it can't check counts as right. */
export class Registry {
  /** The image with each of its tags. */
  images: readonly string[] = $state.raw([])
  /** The registry refuses the login that is typed. */
  refused = $state(false)
  readonly #page: Page
  #asked = ''
  #checked = ''

  constructor(page: Page) {
    this.#page = page
  }

  /** Reads the tags of an image, once for each. */
  async look(typed: string, registry: RegistryLogin): Promise<void> {
    const image = untagged(typed)
    const login = wholeLogin(registry)
    const key = JSON.stringify([image, login])
    if (!this.#reads() || image === '' || key === this.#asked) return
    this.#asked = key
    const tags = await this.#page.berth.imageTags({ image, registry: login }).catch(() => [])
    if (key === this.#asked) this.images = tags.map(tag => `${image}:${tag}`)
  }

  /** Tries a login, once for each. */
  async check(registry: RegistryLogin): Promise<void> {
    const login = wholeLogin(registry)
    const key = JSON.stringify(login ?? '')
    if (key === this.#checked) return
    this.#checked = key
    this.refused = false
    if (!login || !this.#reads()) return
    const answer = await this.#page.berth.checkRegistry({ registry: login }).catch(() => 'unknown')
    if (key === this.#checked) this.refused = answer === 'refused'
  }

  #reads(): boolean {
    return this.#page.account?.capabilities.readsRegistries === true
  }
}
