import { instanceName } from '#contract/format/name.ts'
import type { InstanceState } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { AccountView } from '#contract/state.ts'

/** The announcements of new states that the user must know about. */
const said: Partial<Record<InstanceState, string>> = {
  outbid: 'was outbid and has stopped',
  frozen: 'is frozen',
  ended: 'has exited',
  crashed: 'has crashed',
  unstartable: 'cannot be started',
  offline: 'is offline',
  silent: 'does not answer',
}

/** What changed, for screen readers: instances that became ready or unusable, and guards that acted. */
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
      if (old && guard.step === 'done' && old.step !== 'done' && last) news.push(`Limit: ${last.text}`)
    }
  return news
}
