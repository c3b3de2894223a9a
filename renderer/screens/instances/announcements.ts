import { instanceName } from '../../../electron/contract/format/name.ts'
import type { InstanceState } from '../../../electron/contract/instance/instance.ts'
import { hasTrait } from '../../../electron/contract/instance/state-traits.ts'
import type { AccountView } from '../../../electron/contract/state.ts'

/** What is said of a state that was come to: what the user waits for, or must know of. */
const said: Partial<Record<InstanceState, string>> = {
  outbid: 'was outbid and has stopped',
  crashed: 'has crashed',
  unstartable: 'cannot be started',
  offline: 'is offline',
  silent: 'does not answer',
}

/**
 * What someone who hears the page is told of a change to its rows: what is ready, outbid, crashed or gone, and what a
 * guard did.
 */
export function announcements(
  before: Pick<AccountView, 'id' | 'instances' | 'guards'>,
  after: Pick<AccountView, 'id' | 'instances' | 'guards'>,
): string[] {
  if (before === after || before.id !== after.id) return []
  const news: string[] = []
  if (before.instances !== after.instances)
    for (const instance of Object.values(after.instances)) {
      const old = before.instances[instance.id]
      if (!old || old.state === instance.state) continue
      const name = instanceName(instance)
      const words = said[instance.state]
      if (words) news.push(`${name} ${words}.`)
      else if (instance.state === 'running' && hasTrait(old.state, 'onItsWay')) news.push(`${name} is ready.`)
    }
  if (before.guards !== after.guards)
    for (const guard of Object.values(after.guards)) {
      const old = before.guards[guard.id]
      const last = guard.history.at(-1)
      if (old && guard.step === 'done' && old.step !== 'done' && last) news.push(`Guard: ${last.text}`)
    }
  return news
}
