import type { Clock } from '#ports/clock.ts'
import type { Keychain } from '#ports/keychain.ts'
import { busAddress, openSessionBus } from '../session-bus.ts'
import { fallbackKeychain } from './fallback-keychain.ts'
import { type KeychainLimits, type Keytar, systemKeychain } from './system-keychain.ts'

const limits: KeychainLimits = { probe: 3000, call: 60_000 }
/** Milliseconds between probes for a missing keychain: right after a login the desktop may still start it. */
const probeInterval = 10_000

/**
 * The system's keychain, with a fallback in memory that says why. Never rejects, and resolves within three seconds; a
 * keychain that appears later is used from then on. `addBlock` gets a function that tells whether a call is under way,
 * which lasts as long as a prompt waits for the user.
 */
export async function openKeychain(
  clock: Clock,
  addBlock: (isBlocked: () => boolean) => void = () => undefined,
): Promise<Keychain> {
  const calls = { underWay: 0 }
  addBlock(() => calls.underWay > 0)
  const keytar = await loadKeytar().catch((error: unknown) => new Error(String(error), { cause: error }))
  if (keytar instanceof Error) return memoryKeychain(whyNot(keytar))
  const system = systemKeychain(counting(noticingLocks(keytar), calls), clock, limits)
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

function counting(keytar: Keytar, calls: { underWay: number }): Keytar {
  const count = <T>(call: Promise<T>): Promise<T> => {
    calls.underWay++
    return call.finally(() => calls.underWay--)
  }
  return {
    getPassword: (...args) => count(keytar.getPassword(...args)),
    setPassword: (...args) => count(keytar.setPassword(...args)),
    deletePassword: (...args) => count(keytar.deletePassword(...args)),
  }
}

function whyNot(error: unknown): string {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '').replace(/\.$/, '') : ''
  const help =
    process.platform === 'linux'
      ? ' A keyring that speaks Secret Service, such as GNOME Keyring or KWallet, keeps them: start or unlock one.'
      : ''
  return `This machine offers no keychain, so API keys are kept in memory and must be entered again after a restart.${help} (${reason}.)`
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
