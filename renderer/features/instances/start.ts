import { starting, stoppersOf } from '#contract/automation/stoppers.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { dialogs } from '#renderer/place/dialogs.svelte.ts'
import { clicked, usualStops } from '../limits/stops.ts'

/** Starts a stopped instance; asks first where a limit would stop it again immediately. */
export function start(instance: InstanceView, page: Page): unknown {
  const stopped = page.account && stoppersOf(page.account, starting(instance), page.accountNow).length > 0
  if (stopped) return dialogs.show({ kind: 'start', instance: instance.id })
  return page.actSoon(instance, 'start')
}

/** Limits the time of an instance that is started. */
export function stopAgain(
  page: Page,
  { account, instance }: { account: string; instance: number },
): Promise<string | undefined> {
  const settings = { when: usualStops.duration, ...clicked }
  return page.attempt(page.berth.setLimit({ account, instance, ...settings }))
}
