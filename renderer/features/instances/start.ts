import { starting, stoppersOf } from '../../../electron/contract/automation/stoppers.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { Page } from '../../berth/page.svelte.ts'
import { dialogs } from '../../place/dialogs.svelte.ts'

/** Starts a stopped instance; asks first where a guard would stop it again immediately. */
export function start(instance: InstanceView, page: Page): unknown {
  const stopped = page.account && stoppersOf(page.account, starting(instance), page.accountNow).length > 0
  if (stopped) return dialogs.show({ kind: 'start', instance: instance.id })
  return page.actSoon(instance, 'start')
}
