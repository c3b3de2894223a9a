import { BerthError } from '#contract/problem.ts'
import type { Clock } from '#ports/clock.ts'
import type { Keychain } from '#ports/keychain.ts'

const service = 'berth'

/** The part of `keytar` that Berth uses. */
export interface Keytar {
  getPassword(service: string, account: string): Promise<string | null>
  setPassword(service: string, account: string, password: string): Promise<void>
  deletePassword(service: string, account: string): Promise<boolean>
}

/** Milliseconds a call may take: long enough to type the keychain's password when the desktop asks for it. */
export interface KeychainLimits {
  probe: number
  call: number
}

export interface SystemKeychain extends Keychain {
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
    message: `The keychain of this machine did not answer when Berth wanted to ${what} it.`,
    advice: 'Unlock the keychain, for instance by its own program, and try again.',
  })
}

function failed(what: string, cause: unknown): BerthError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new BerthError({
    code: 'keychain_failed',
    message: `Berth could not ${what} the keychain of this machine: ${reason}`,
    advice: 'Unlock the keychain, or restart it, and try again.',
  })
}
