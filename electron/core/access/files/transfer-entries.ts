import type { FileTransferView } from '#contract/instance/files.ts'
import type { ActivityEntry } from '#contract/state.ts'

/** A transfer's line in Activity. */
export type TransferEntry = Pick<ActivityEntry, 'instance' | 'kind' | 'text' | 'detail'>

/** The entry for a transfer that is done or failed; none for a cancelled one. */
export function endedEntry(view: FileTransferView, by: 'user' | 'berth'): TransferEntry | undefined {
  const { direction, instance, step, problem } = view
  if (step === 'done')
    return { instance, kind: by, text: `${direction === 'up' ? 'Uploaded' : 'Downloaded'} ${whatOf(view)}` }
  if (step !== 'failed') return undefined
  return {
    instance,
    kind: 'error',
    text: `${nameOf(direction)} failed: ${whatOf(view)}`,
    detail: problem?.message,
  }
}

function nameOf(direction: FileTransferView['direction']): string {
  return direction === 'up' ? 'Upload' : 'Download'
}

function whatOf({ direction, name, instance, folder }: FileTransferView): string {
  return `${name} ${direction === 'up' ? 'to' : 'from'} #${instance}:${folder}`
}
