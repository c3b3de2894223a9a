import { instanceName } from '../../contract/format/name.ts'
import type { AccountId } from '../../contract/ids.ts'
import type { InstanceView, SshAddress } from '../../contract/instance/instance.ts'
import { BerthError, type Problem } from '../../contract/problem.ts'
import { canGetIn } from '../../contract/reading.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ServiceClient } from '../../service/client.ts'
import type { Target } from '../../ssh/connection/sharing.ts'

/** An instance to get into, and the client of its account. */
export interface InstanceTarget {
  account: AccountId
  instance: InstanceView
  client: ServiceClient
}

/** Gets in for something, with the key attached when it has to be. */
export type Enter = <Got>(target: InstanceTarget, use: (target: Target) => Promise<Got>) => Promise<Got>

/** What getting in is done with. */
interface EnterParts {
  clock: Clock
  keyName: () => string
  attachKey(account: AccountId, instance: number, client: ServiceClient): Promise<void>
  /** Hears once of each host key that waits for the user's word. */
  onHostKey(account: AccountId, instance: number, question: Problem): void
}

/** Milliseconds for getting in, all ways and the attaching of the key included. */
export const entryDeadline = 30_000
/** Milliseconds after which a key that was just attached is tried again: the service takes a moment to bring it over. */
const afterAttaching = [500, 2000, 4000]

export function createEnter({ clock, keyName, attachKey, onHostKey }: EnterParts): Enter {
  /** Host keys that wait for the user's word, by instance: what runs in the background asks again and again. */
  const asked = new Set<string>()
  function noteHostKey(account: AccountId, instance: number, error: unknown): void {
    if (!(error instanceof BerthError)) return
    const offered = error.problem.facts?.['offered']
    const question = `${account}/${instance} ${offered}`
    if (offered === undefined || asked.has(question)) return
    asked.add(question)
    onHostKey(account, instance, error.problem)
  }

  return async ({ account, instance, client }, use) => {
    const target = {
      account,
      instance: instance.id,
      addresses: addressesOf(instance),
      jupyterRuntype: instance.jupyter,
      keyName: keyName(),
      deadlineMs: entryDeadline,
    }
    try {
      return await use(target)
    } catch (error) {
      noteHostKey(account, instance.id, error)
      if (!isKeyRefused(error)) throw error
    }
    await attachKey(account, instance.id, client)
    for (const pause of afterAttaching) {
      try {
        return await use(target)
      } catch (error) {
        if (!isKeyRefused(error)) throw error
      }
      await new Promise<void>(resolve => {
        clock.after(pause, resolve)
      })
    }
    return use(target)
  }
}

/** Where it is entered. Throws `bad_address` or `not_running`. */
export function addressesOf(instance: InstanceView): { direct?: SshAddress; proxy?: SshAddress } {
  const { ssh } = instance
  if (ssh?.problem) throw new BerthError({ code: 'bad_address', message: ssh.problem, field: 'ssh_host' })
  if (!canGetIn(instance) || !ssh) throw notReady(instance)
  return { direct: ssh.direct, proxy: ssh.proxy }
}

/** `not_running`: there is nothing to enter. */
export function notReady(instance: InstanceView): BerthError {
  return new BerthError({
    code: 'not_running',
    message: `${instanceName(instance)} is not running, so there is no shell to open.`,
    advice: 'Start it, or wait until it is running.',
  })
}

function isKeyRefused(error: unknown): boolean {
  return error instanceof BerthError && error.problem.code === 'key_refused'
}
