import { instanceName } from '#shared/format/name.ts'
import { stateNews } from '#shared/instance/instance-words.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import type { AccountView } from '#shared/state.ts'

/** Changes for screen readers: instances that became ready or unusable, and limits that acted. */
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
      const words = stateNews(instance.state)
      const isReady = instance.state !== 'running' || hasTrait(old.state, 'onItsWay')
      if (words && isReady) news.push(`${instanceName(instance)} ${words}.`)
    }
  if (before.limits !== after.limits)
    for (const limit of Object.values(after.limits)) {
      const old = before.limits[limit.id]
      const last = limit.history.at(-1)
      if (old && limit.step === 'done' && old.step !== 'done' && last) news.push(`Limit: ${last.text}`)
    }
  return news
}
