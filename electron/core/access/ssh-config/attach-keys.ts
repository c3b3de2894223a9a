import type { AccountId } from '../../../contract/ids.ts'
import { canGetIn } from '../../../contract/reading.ts'
import type { State } from '../../../contract/state.ts'
import { oneAtATime } from '../../../ports/one-at-a-time.ts'

/** Gives each instance that runs the key the SSH config names, once: `ssh` cannot attach it when it is refused. */
export interface KeyAttacher {
  onState(state: State): void
}

export interface KeyAttacherNeeds {
  /** Attaches the chosen key. */
  attach(account: AccountId, instance: number): Promise<void>
  /** What is remembered: the name of the key that each instance was given, by account and instance. */
  given(): Readonly<Record<string, string>>
  remember(of: string, key: string): void
}

export function createKeyAttacher({ attach, given, remember }: KeyAttacherNeeds): KeyAttacher {
  /** Tried in this run, whether it worked or not: one that is refused is not asked again and again. */
  const tried = new Set<string>()
  /** So that the user's own commands do not wait behind many of them. */
  const inTurn = oneAtATime()

  return {
    onState({ accounts, settings }) {
      for (const { id: account, instances, connection } of Object.values(accounts)) {
        if (connection.status !== 'online') continue
        for (const instance of Object.values(instances)) {
          const of = `${account}/${instance.id}`
          const once = `${of} ${settings.sshKey}`
          if (!canGetIn(instance) || tried.has(once) || given()[of] === settings.sshKey) continue
          tried.add(once)
          void inTurn(() => attach(account, instance.id)).then(
            () => {
              // Another demo gives its instances the same numbers.
              if (account !== 'demo') remember(of, settings.sshKey)
            },
            () => undefined,
          )
        }
      }
    },
  }
}
