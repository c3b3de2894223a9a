import { BerthError } from '../shared/problem.ts'
import { NativeCalls } from './native-calls.ts'
import type { Clock, Keychain } from './platform.ts'
import { busAddress, openSessionBus } from './session-bus.ts'

const limits: KeychainLimits = { probe: 3000, call: 60_000 }
/** Milliseconds between probes for a missing keychain: right after a login the desktop may still start it. */
const probeInterval = 10_000

/**
 * The system's keychain, with a fallback in memory that says why. Never rejects, and resolves within three seconds; a
 * keychain that appears later is used from then on. Its calls are among `nativeCalls`: one lasts as long as a prompt
 * waits for the user.
 */
export async function openKeychain(clock: Clock, nativeCalls = new NativeCalls()): Promise<Keychain> {
  const keytar = await loadKeytar().catch((error: unknown) => new Error(String(error), { cause: error }))
  if (keytar instanceof Error) return memoryKeychain(whyNot(keytar))
  const system = systemKeychain(among(nativeCalls, noticingLocks(keytar)), clock, limits)
  const problem = await system.probe().then(() => undefined, whyNot)
  const keychain = fallbackKeychain(system, problem)
  const probeLater = () =>
    void clock.after(probeInterval, () => void system.probe().then(keychain.found, probeLater))
  if (problem !== undefined) probeLater()
  system.onBack(() => void system.probe().then(keychain.found, () => undefined))
  return keychain
}

/** Loaded on demand: a native module, which may be missing here or lack its libraries. */
async function loadKeytar(): Promise<Keytar> {
  const loaded: { default: Keytar } = await import('keytar')
  return loaded.default
}

/**
 * A locked keyring whose prompt nobody answers looks to libsecret like one without the entry, and a deletion there like
 * one that was done. So the service itself is asked what it holds.
 */
function noticingLocks(keytar: Keytar): Keytar {
  return {
    async getPassword(service, account) {
      const secret = await keytar.getPassword(service, account)
      if (secret === null && (await isLocked(service, account))) throw new Error(locked)
      return secret
    },
    setPassword: (...args) => keytar.setPassword(...args),
    async deletePassword(service, account) {
      const isDeleted = await keytar.deletePassword(service, account)
      if (await isLocked(service, account)) throw new Error(locked)
      return isDeleted
    },
  }
}

const locked = 'it is locked'

/** Whether Secret Service holds a locked item with these attributes; false where it cannot be asked. */
async function isLocked(service: string, account: string): Promise<boolean> {
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

/** Makes a keychain's calls among all native ones. */
function among(nativeCalls: NativeCalls, keytar: Keytar): Keytar {
  return {
    getPassword: (...args) => nativeCalls.make(() => keytar.getPassword(...args)),
    setPassword: (...args) => nativeCalls.make(() => keytar.setPassword(...args)),
    deletePassword: (...args) => nativeCalls.make(() => keytar.deletePassword(...args)),
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

/** Keeps secrets in memory until Berth ends, for a machine without a keychain. `problem` tells the user why. */
export function memoryKeychain(problem: string): Keychain {
  const secrets = new Map<string, string>()
  return {
    persistent: false,
    problem,
    get: async name => secrets.get(name),
    async set(name, secret) {
      secrets.set(name, secret)
    },
    async delete(name) {
      secrets.delete(name)
    },
  }
}

const service = 'berth'

/** The part of `keytar` that Berth uses. */
export interface Keytar {
  getPassword(service: string, account: string): Promise<string | null>
  setPassword(service: string, account: string, password: string): Promise<void>
  deletePassword(service: string, account: string): Promise<boolean>
}

/** Milliseconds a call may take: long enough to type the keychain's password when the desktop asks for it. */
interface KeychainLimits {
  probe: number
  call: number
}

interface SystemKeychain extends Keychain {
  /** Called when a call that had timed out ends, so that the keychain is free again. */
  onBack(tell: () => void): void
  /** Reads an entry that does not exist: any answer proves a keychain, without a prompt. Rejects without one. */
  probe(): Promise<void>
}

/**
 * The operating system's keychain. Each call blocks a thread, and a locked keychain may never answer: so calls run one
 * at a time with a time limit, and while one hangs, others are refused at once. Rejects with a BerthError whose code is
 * `keychain_failed` or `keychain_silent`.
 */
export function systemKeychain(keytar: Keytar, clock: Clock, limits: KeychainLimits): SystemKeychain {
  let last: Promise<unknown> = Promise.resolve()
  let hanging = false
  const waiting: (() => void)[] = []

  function call<T>(what: string, limit: number, run: () => Promise<T>): Promise<T> {
    if (hanging) return Promise.reject(silent(what))
    const mine = last.then(() => (hanging ? Promise.reject(silent(what)) : limited(what, limit, run)))
    last = mine.catch(() => undefined)
    return mine
  }

  function limited<T>(what: string, limit: number, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(limit, () => {
        hanging = true
        reject(silent(what))
      })
      run()
        .then(resolve, error => reject(failed(what, error)))
        .finally(() => {
          cancel()
          if (!hanging) return
          hanging = false
          for (const tell of waiting) tell()
        })
    })
  }

  return {
    persistent: true,
    onBack: tell => void waiting.push(tell),
    async probe() {
      await call('read from', limits.probe, () => keytar.getPassword(service, 'is-a-keychain-there'))
    },
    async get(name) {
      const secret = await call('read from', limits.call, () => keytar.getPassword(service, name))
      return secret ?? undefined
    },
    set: (name, secret) => call('write to', limits.call, () => keytar.setPassword(service, name, secret)),
    async delete(name) {
      await call('delete from', limits.call, () => keytar.deletePassword(service, name))
    },
  }
}

function silent(what: string): BerthError {
  return new BerthError({
    code: 'keychain_silent',
    message: `The keychain didn’t answer when Berth tried to ${what} it.`,
    advice: 'Unlock the keychain, then try again.',
  })
}

function failed(what: string, cause: unknown): BerthError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new BerthError({
    code: 'keychain_failed',
    message: `Berth couldn’t ${what} the keychain: ${reason}`,
    advice: 'Unlock or restart the keychain, then try again.',
  })
}

interface FallbackKeychain extends Keychain {
  /** Called once the system's keychain answers: moves the secrets in memory into it and calls the listeners. */
  found(): Promise<void>
}

/**
 * A keychain that answers reads may still refuse writes: it may have no collection, or a prompt that nobody answers.
 * Refused secrets are kept in memory, and `problem` says so from then on.
 * @param missing why there is no keychain yet; until `found` is called all secrets are in memory
 */
export function fallbackKeychain(system: Keychain, missing?: string): FallbackKeychain {
  const secrets = new Map<string, string>()
  const waiting: (() => void)[] = []
  let away = missing !== undefined
  let problem = missing

  async function set(name: string, secret: string): Promise<void> {
    secrets.set(name, secret)
    if (away) return
    try {
      await system.set(name, secret)
      secrets.delete(name)
    } catch (error) {
      if (!(error instanceof BerthError)) throw error
      problem = `API keys stay in memory and must be entered again after a restart. ${error.problem.message}`
    }
  }

  return {
    get persistent() {
      return problem === undefined
    },
    get problem() {
      return problem
    },
    onBack: tell => void waiting.push(tell),
    async found() {
      away = false
      problem = undefined
      for (const [name, secret] of secrets) await set(name, secret)
      for (const tell of waiting) tell()
    },
    get: async name => secrets.get(name) ?? (away ? undefined : system.get(name)),
    set,
    async delete(name) {
      const inMemory = secrets.delete(name)
      if (away) return
      try {
        // Even where it is in memory: the keychain may hold an older secret under the same name.
        await system.delete(name)
      } catch (error) {
        if (!inMemory || !(error instanceof BerthError)) throw error
      }
    },
  }
}
