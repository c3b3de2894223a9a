import { BerthError } from '../shared/problem.ts'
import { NativeCalls } from './native-calls.ts'
import type { Clock, Keychain } from './platform.ts'
import { busAddress, openSessionBus } from './session-bus.ts'

/** Milliseconds a call may take: long enough to type the keychain's password when the desktop asks for it. */
interface KeychainLimits {
  probe: number
  call: number
}

const usualLimits: KeychainLimits = { probe: 3000, call: 60_000 }
/** Milliseconds between probes for a missing keychain: right after a login the desktop may still start it. */
const probeInterval = 10_000

/** The part of `keytar` that Berth uses. */
export interface Keytar {
  getPassword(service: string, account: string): Promise<string | null>
  setPassword(service: string, account: string, password: string): Promise<void>
  deletePassword(service: string, account: string): Promise<boolean>
}

/** Under which the system's keychain lists Berth's entries. */
const service = 'berth'

/**
 * The system's keychain, with memory in its place that says why. Never rejects, and resolves within three seconds; a
 * keychain that appears later is used from then on. Its calls are among `nativeCalls`: one lasts as long as a prompt
 * waits for the user.
 */
export async function openKeychain(clock: Clock, nativeCalls = new NativeCalls()): Promise<Keychain> {
  const keytar = await loadKeytar().catch((error: unknown) => new Error(String(error), { cause: error }))
  const keychain = new SystemKeychain(keytar, { clock, nativeCalls })
  await keychain.look()
  return keychain
}

/** Loaded on demand: a native module, which may be missing here or lack its libraries. */
async function loadKeytar(): Promise<Keytar> {
  const loaded: { default: Keytar } = await import('keytar')
  return loaded.default
}

/**
 * The operating system's keychain. Each call holds a thread, and a locked keychain may never answer: so calls run one at a
 * time with a time limit, and while one hangs, others are refused at once.
 *
 * A keychain that answers reads may still refuse writes: it may have no collection, or a prompt that nobody answers.
 * Refused secrets are kept in memory until Berth ends, and `problem` says so; so are all where there's no keychain. Reads
 * and deletions reject with a BerthError whose code is `keychain_failed` or `keychain_silent`.
 */
export class SystemKeychain implements Keychain {
  /** Or why it can't be loaded. */
  readonly #keytar: Keytar | Error
  readonly #clock: Clock
  readonly #limits: KeychainLimits
  readonly #memory = new Map<string, string>()
  readonly #listeners: (() => void)[] = []
  #cancelLook: () => void = () => undefined
  #last: Promise<unknown> = Promise.resolve()
  #hangs = false
  /** No probe was answered yet, so nothing is asked for. */
  #isMissing = true
  #problem: string | undefined

  constructor(
    keytar: Keytar | Error,
    {
      clock,
      nativeCalls = new NativeCalls(),
      limits = usualLimits,
    }: { clock: Clock; nativeCalls?: NativeCalls; limits?: KeychainLimits },
  ) {
    this.#keytar = keytar instanceof Error ? keytar : among(nativeCalls, keytar)
    this.#clock = clock
    this.#limits = limits
  }

  get problem(): string | undefined {
    return this.#problem
  }

  onChange(tell: () => void): void {
    this.#listeners.push(tell)
  }

  /** Looks for the keychain, and while there is none again and again. Moves what is in memory into one that answers. */
  async look(): Promise<void> {
    this.#cancelLook()
    if (this.#keytar instanceof Error) {
      this.#problem = whyNot(this.#keytar)
      return
    }
    try {
      // Any answer proves a keychain, and an entry that doesn't exist needs no prompt.
      await this.#call('read from', this.#limits.probe, ({ getPassword }) =>
        getPassword(service, 'is-a-keychain-there'),
      )
    } catch (error) {
      if (!this.#isMissing) return
      this.#problem ??= whyNot(error)
      this.#cancelLook()
      this.#cancelLook = this.#clock.after(probeInterval, () => void this.look())
      return
    }
    this.#isMissing = false
    this.#problem = undefined
    for (const [name, secret] of this.#memory) await this.set(name, secret)
    this.#tell()
  }

  async get(name: string): Promise<string | undefined> {
    const kept = this.#memory.get(name)
    if (kept !== undefined || this.#isMissing) return kept
    const secret = await this.#call('read from', this.#limits.call, async ({ getPassword }) => {
      const found = await getPassword(service, name)
      // A locked keyring whose prompt nobody answers looks like one without the entry.
      if (found === null && (await isLocked(name))) throw new Error(locked)
      return found
    })
    return secret ?? undefined
  }

  async set(name: string, secret: string): Promise<void> {
    this.#memory.set(name, secret)
    if (this.#isMissing) return
    try {
      await this.#call('write to', this.#limits.call, ({ setPassword }) => setPassword(service, name, secret))
      if (this.#memory.get(name) === secret) this.#memory.delete(name)
    } catch (error) {
      if (!(error instanceof BerthError)) throw error
      this.#problem = `API keys stay in memory and must be entered again after a restart. ${error.problem.message}`
      this.#tell()
    }
  }

  async delete(name: string): Promise<void> {
    const wasInMemory = this.#memory.delete(name)
    if (this.#isMissing) return
    try {
      // Even where it is in memory: the keychain may hold an older secret under the same name.
      await this.#call('delete from', this.#limits.call, async ({ deletePassword }) => {
        await deletePassword(service, name)
        // A locked keyring says that it's done.
        if (await isLocked(name)) throw new Error(locked)
      })
    } catch (error) {
      if (!wasInMemory || !(error instanceof BerthError)) throw error
    }
  }

  #call<T>(what: string, limit: number, run: (keytar: Keytar) => Promise<T>): Promise<T> {
    const silent = () => Promise.reject(silentKeychain(what))
    if (this.#hangs) return silent()
    const mine = this.#last.then(() => (this.#hangs ? silent() : this.#limited(what, limit, run)))
    this.#last = mine.catch(() => undefined)
    return mine
  }

  #limited<T>(what: string, limit: number, run: (keytar: Keytar) => Promise<T>): Promise<T> {
    const keytar = this.#keytar
    if (keytar instanceof Error) return Promise.reject(failedKeychain(what, keytar))
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(limit, () => {
        this.#hangs = true
        reject(silentKeychain(what))
      })
      run(keytar)
        .then(resolve, error => reject(failedKeychain(what, error)))
        .finally(() => {
          cancel()
          if (!this.#hangs) return
          this.#hangs = false
          void this.look()
        })
    })
  }

  #tell(): void {
    for (const tell of this.#listeners) tell()
  }
}

/** The same library, its calls among all native ones. */
function among(nativeCalls: NativeCalls, keytar: Keytar): Keytar {
  return {
    getPassword: (...args) => nativeCalls.make(() => keytar.getPassword(...args)),
    setPassword: (...args) => nativeCalls.make(() => keytar.setPassword(...args)),
    deletePassword: (...args) => nativeCalls.make(() => keytar.deletePassword(...args)),
  }
}

const locked = 'it is locked'

/** Whether Secret Service itself says that it holds an entry that is locked; false where it cannot be asked. */
async function isLocked(account: string): Promise<boolean> {
  const address = process.platform === 'linux' ? busAddress(process.env) : undefined
  if (address === undefined) return false
  const bus = await openSessionBus(address).catch(() => undefined)
  try {
    const found = await bus?.call({
      destination: 'org.freedesktop.secrets',
      path: '/org/freedesktop/secrets',
      interface: 'org.freedesktop.Secret.Service',
      member: 'SearchItems',
      signature: 'a{ss}',
      body: [{ service, account }],
    })
    const shut = found?.[1]
    return Array.isArray(shut) && shut.length > 0
  } catch {
    return false
  } finally {
    bus?.close()
  }
}

function whyNot(error: unknown): string {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '').replace(/\.$/, '') : ''
  const help =
    process.platform === 'linux'
      ? ' To keep them, start or unlock a keyring such as GNOME Keyring or KWallet.'
      : ''
  return `This computer has no keychain, so API keys stay in memory and must be entered again after a restart.${help} (${reason}.)`
}

function silentKeychain(what: string): BerthError {
  return new BerthError({
    code: 'keychain_silent',
    message: `The keychain didn’t answer when Berth tried to ${what} it.`,
    advice: 'Unlock the keychain, then try again.',
  })
}

function failedKeychain(what: string, cause: unknown): BerthError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new BerthError({
    code: 'keychain_failed',
    message: `Berth couldn’t ${what} the keychain: ${reason}`,
    advice: 'Unlock or restart the keychain, then try again.',
  })
}
