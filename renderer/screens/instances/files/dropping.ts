import type { Page } from '#renderer/bridge/page.svelte.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { uploadDropped } from './filesView.svelte.ts'

/** The handlers of something that takes files dropped on it for an instance; `dragged` hears whether some are over it. */
export function droppingOn(
  page: Page,
  instanceOf: () => InstanceView | undefined,
  dragged: (over: boolean) => void,
) {
  const takes = ({ dataTransfer }: DragEvent) => {
    const instance = instanceOf()
    return instance && canGetIn(instance) && dataTransfer?.types.includes('Files') ? instance : undefined
  }
  return {
    ondragover(event: DragEvent) {
      if (!takes(event)) return
      event.preventDefault()
      dragged(true)
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy'
    },
    ondragleave: () => dragged(false),
    ondrop(event: DragEvent) {
      dragged(false)
      const instance = takes(event)
      if (!instance || !event.dataTransfer || !page.account) return
      event.preventDefault()
      void uploadDropped(page, page.account.id, instance.id, event.dataTransfer.items)
    },
  }
}
