import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { defaultLimits } from '#shared/automation/limit-defaults.ts'
import { dangers } from '#shared/danger.ts'
import type { InstanceView, UndoableAction } from '#shared/instance/instance.ts'
import { clicked } from '../limits/rentalLimits.ts'

/** Does it after five seconds to undo it; asks first where the table of dangerous actions has a question. */
export function act(action: UndoableAction, instance: InstanceView, page: Page): unknown {
  const { account, accountNow } = page
  const question = account && dangers[action].question(account, { instances: [instance] }, accountNow)
  if (question) return dialogs.show({ kind: action, instance: instance.id })
  return page.actSoon(instance, action)
}

/** Limits the time of an instance that is started. */
export function stopAgain(
  page: Page,
  { account, instance }: { account: string; instance: number },
): Promise<string | undefined> {
  const settings = { when: defaultLimits.duration, ...clicked }
  return page.attempt(page.berth.setLimit({ account, instance, ...settings }))
}
