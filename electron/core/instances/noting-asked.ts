import type { AskedState } from '#contract/instance/instance.ts'
import type { AccountView } from '#contract/state.ts'
import type { ServiceClient } from '#service/client.ts'
import type { Store } from '../state/store.ts'
import type { Document } from '../storage/json-file.ts'
import type { LastSeen } from './last-seen.ts'

/**
 * The same client, which notes each start and stop in State and on disk before the call, so that after a kill a stop of
 * Berth's does not look like someone else's. An instance is stopped even where the note cannot be written.
 */
export function notingAsked(
  client: ServiceClient,
  context: {
    account: AccountView['id']
    store: Store
    lastSeen: Document<LastSeen>
    now: () => number
    /** Called before an instance is stopped or destroyed. */
    onEnd: (instance: number) => void
  },
): ServiceClient {
  const { instances } = client
  const { account, store, lastSeen, now, onEnd } = context

  async function note(instance: number, wanted: Omit<AskedState, 'at'>): Promise<void> {
    const asked = { ...wanted, at: now() }
    store.change(draft => {
      const target = draft.accounts[account]?.instances[instance]
      if (target) target.asked = asked
    })
    const view = store.get().accounts[account]?.instances[instance]
    if (view) await lastSeen.record(seen => ({ ...seen, instances: { ...seen.instances, [instance]: view } }))
  }

  const stop: typeof instances.stop = async (id, options) => {
    onEnd(id)
    await note(id, { state: 'stopped' })
    return instances.stop(id, options)
  }
  const start: typeof instances.start = async (id, options) => {
    await note(id, { state: 'running' })
    const answer = await instances.start(id, options)
    if (answer.queued) await note(id, { state: 'running', queued: true })
    return answer
  }
  const destroy: typeof instances.destroy = (id, options) => {
    onEnd(id)
    return instances.destroy(id, options)
  }
  return { ...client, instances: { ...instances, stop, start, destroy } }
}
