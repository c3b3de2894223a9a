import type { Clock } from '#platform/platform.ts'
import { sleep } from '#platform/tasks.ts'
import type { ServiceClient } from '#service/client.ts'
import { canGetIn } from '#shared/derived.ts'
import { instanceName } from '#shared/format/name.ts'
import type { AccountId } from '#shared/ids.ts'
import type { InstanceView, SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Target } from '#ssh/connection/sharing.ts'

/** An instance to connect to, and the client of its account. */
export interface InstanceTarget {
  account: AccountId
  instance: InstanceView
  client: ServiceClient
}

/** Connects for some use, and attaches the key where it is refused. */
export type Enter = <Got>(target: InstanceTarget, use: (target: Target) => Promise<Got>) => Promise<Got>

/** Dependencies for connecting. */
interface EnterParts {
  clock: Clock
  keyName: () => string
  attachKey(account: AccountId, instance: number, client: ServiceClient): Promise<void>
  /** Called once for each host key that the user has to confirm. */
  onHostKey(account: AccountId, instance: number, question: Problem): void
}

/** Milliseconds to connect, with all addresses and the attaching of the key. */
export const entryDeadline = 30_000
/** Milliseconds between tries with a key that was just attached: the service takes a moment to install it. */
const afterAttaching = [500, 2000, 4000]
/**
 * Milliseconds after which a key that was attached is installed, and for which it isn't attached again: servers block those
 * who are refused often.
 */
const attached = { settled: 7000, once: 120_000 }

export function createEnter({ clock, keyName, attachKey, onHostKey }: EnterParts): Enter {
  /** Unconfirmed host keys by instance, since background work connects again and again. */
  const askedFor = new Set<string>()
  function noteHostKey(account: AccountId, instance: number, error: unknown): void {
    if (!(error instanceof BerthError)) return
    const offered = error.problem.facts?.['offered']
    const question = `${account}/${instance} ${offered}`
    if (offered === undefined || askedFor.has(question)) return
    askedFor.add(question)
    onHostKey(account, instance, error.problem)
  }

  /** When keys were attached last, in monotonic milliseconds, by instance and key. */
  const attachedAt = new Map<string, number>()

  return async ({ account, instance, client }, use) => {
    const target = {
      account,
      instance: instance.id,
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      keyName: keyName(),
      deadlineMs: entryDeadline,
      mark: instance.mark,
    }
    const place = `${account}/${instance.id} ${target.keyName}`
    try {
      return await use(target)
    } catch (error) {
      noteHostKey(account, instance.id, error)
      if (!isKeyRefused(error)) throw error
      const age = clock.monotonic() - (attachedAt.get(place) ?? Number.NEGATIVE_INFINITY)
      if (age >= attached.settled && age < attached.once) throw error
      if (age >= attached.once) {
        await attachKey(account, instance.id, client)
        attachedAt.set(place, clock.monotonic())
      }
    }
    for (const pause of afterAttaching) {
      try {
        return await use(target)
      } catch (error) {
        if (!isKeyRefused(error)) throw error
      }
      await sleep(clock, pause)
    }
    return use(target)
  }
}

/** The instance's addresses. Throws `bad_address` or `not_running`. */
export function addressesOf(instance: InstanceView): { direct?: SshAddress; proxy?: SshAddress } {
  const { ssh } = instance
  if (ssh?.problem) throw new BerthError({ code: 'bad_address', message: ssh.problem, field: 'ssh_host' })
  if (!canGetIn(instance) || !ssh) throw notReady(instance)
  return { direct: ssh.direct, proxy: ssh.proxy }
}

/** `not_running`: the instance has no address now. */
export function notReady(instance: InstanceView): BerthError {
  return new BerthError({
    code: 'not_running',
    message: `${instanceName(instance)} isn’t running, so no terminal can be opened.`,
    advice: 'Start it, or wait until it is running.',
  })
}

function isKeyRefused(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'key_refused'
}
