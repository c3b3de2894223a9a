import type { AccountId } from '#contract/ids.ts'
import { canGetIn } from '#contract/reading.ts'
import type { State } from '#contract/state.ts'
import { oneAtATime } from '#machine/tasks.ts'

/** Attaches the SSH config's key to each running instance once, since the system's `ssh` cannot attach it. */
export interface KeyAttacher {
  onState(state: State): void
}

export interface KeyAttacherNeeds {
  /** Attaches the chosen key. */
  attach(account: AccountId, instance: number): Promise<void>
  /** The name of the key attached to each instance, by account and instance. */
  given(): Readonly<Record<string, string>>
  remember(of: string, key: string): void
}

export function createKeyAttacher({ attach, given, remember }: KeyAttacherNeeds): KeyAttacher {
  /** Instances tried since the start, successfully or not: a refused key is not tried again and again. */
  const tried = new Set<string>()
  /** One at a time, so that the user's own commands do not wait behind many. */
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
              // The next demo uses the same instance ids.
              if (account !== 'demo') remember(of, settings.sshKey)
            },
            () => undefined,
          )
        }
      }
    },
  }
}
