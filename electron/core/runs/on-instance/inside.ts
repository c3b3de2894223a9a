import type { InstanceView } from '#contract/instance/instance.ts'
import { canGetIn } from '#contract/reading.ts'
import { type AccountContext, withConnection } from '#core/account-context.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import type { Run } from '../model.ts'

/** Uses the connection to a run's instance; undefined while it cannot be entered. */
export type Inside = <Got>(
  run: Run,
  use: (connection: Connection, view: InstanceView) => Promise<Got>,
) => Promise<Got | undefined>

/** An account's instances, over SSH and in State. */
export function insideInstances(context: Pick<AccountContext, 'account' | 'store' | 'access' | 'client'>): {
  inside: Inside
  viewOf(instance: number | undefined): InstanceView | undefined
} {
  function viewOf(instance: number | undefined): InstanceView | undefined {
    const { store, account } = context
    return store.get().accounts[account]?.instances[instance ?? '']
  }

  return {
    viewOf,
    async inside({ instance }, use) {
      const view = viewOf(instance)
      if (!view || !canGetIn(view)) return undefined
      return withConnection(context, view, connection => use(connection, view))
    },
  }
}
