import type { Shape } from '#renderer/bridge/stateWords.ts'
import { isRunning, type TransferStep, type TransferView } from '#shared/account/transfer.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'

const steps: Record<TransferStep, { word: string; shape: Shape }> = {
  starting: { word: 'Starting', shape: 'busy' },
  running: { word: 'Running', shape: 'busy' },
  done: { word: 'Done', shape: 'running' },
  failed: { word: 'Failed', shape: 'needs-you' },
  cancelled: { word: 'Cancelled', shape: 'stopped' },
  unknown: { word: 'Unknown', shape: 'stopped' },
}

export function transferStepWords(step: TransferStep): { word: string; shape: Shape } {
  return steps[step]
}

type Instances = Readonly<Record<string, InstanceView>>

/** `trainer #4711:/data`, or `#4711:/data` once it's gone, or `cloud:/bucket`. */
export function sideWords({ instance, path }: TransferView['from'], instances: Instances): string {
  const view = instances[instance ?? '']
  return `${view ? instanceName(view) : instance === undefined ? 'cloud' : `#${instance}`}:${path}`
}

/** The name of a transfer, for the labels of buttons. */
export function transferName({ kind, from, to }: TransferView, instances: Instances): string {
  return `${kind === 'copy' ? 'copy' : 'sync'} of ${sideWords(from, instances)} to ${sideWords(to, instances)}`
}

/** Running transfers first, then the newest. */
export function transfersInOrder(transfers: Readonly<Record<string, TransferView>>): TransferView[] {
  return Object.values(transfers).sort(
    (a, b) => Number(isRunning(b)) - Number(isRunning(a)) || b.startedAt - a.startedAt,
  )
}

/** A note on the API key that was made for a sync; undefined for a copy. */
export function keyWords({ key }: TransferView): { text: string; warn: boolean } | undefined {
  if (!key) return undefined
  const broad = key.scoped ? '' : ' This account has no permissions for keys, so the key can do anything.'
  if (key.state === 'deleted') return { text: `Its API key #${key.id} is deleted.`, warn: false }
  if (key.state === 'in-use')
    return { text: `Its API key #${key.id} is deleted when it ends.${broad}`, warn: false }
  return {
    text:
      'This service doesn’t let Berth delete its API key. ' +
      `Delete “${key.name}” (#${key.id}) in the service’s web console.${broad}`,
    warn: true,
  }
}

/** The other transfers that a cancellation ends, since the request names only the instance. */
export function alsoCancelled(
  transfer: TransferView,
  all: Readonly<Record<string, TransferView>>,
): TransferView[] {
  const at = instanceOf(transfer)
  return Object.values(all).filter(
    other =>
      other.id !== transfer.id &&
      isRunning(other) &&
      other.kind === transfer.kind &&
      instanceOf(other) === at,
  )
}

/** The instance that a cancellation names: a copy's destination, a sync's own. */
export function instanceOf({ kind, from, to }: TransferView): number | undefined {
  return kind === 'copy' ? to.instance : (from.instance ?? to.instance)
}
