import { starting, stoppersOf } from '../../../electron/contract/automation/stoppers.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import type { Page } from '../../berth/page.svelte.ts'
import { instanceName } from '../../words/state.ts'
import { asks } from '../dialogs/asks.svelte.ts'

/** Starts a stopped instance; asks first where a guard would stop it again at once. */
export function start(instance: InstanceView, page: Page): unknown {
  const stopped = page.account && stoppersOf(page.account, starting(instance), page.accountNow).length > 0
  if (stopped) return asks.ask({ kind: 'start', instance: instance.id })
  return page.tell(
    instance.id,
    'Starting',
    () => page.berth.startInstance({ instance: instance.id }),
    `Start of ${instanceName(instance)} failed`,
  )
}
