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

/** What changed, for screen readers: instances that became ready or unusable, and limits that acted. */
export function announcements(
  before: Pick<AccountView, 'id' | 'instances' | 'limits'>,
  after: Pick<AccountView, 'id' | 'instances' | 'limits'>,
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
  if (before.limits !== after.limits)
    for (const limit of Object.values(after.limits)) {
      const old = before.limits[limit.id]
      const last = limit.history.at(-1)
      if (old && limit.step === 'done' && old.step !== 'done' && last) news.push(`Limit: ${last.text}`)
    }
  return news
}
