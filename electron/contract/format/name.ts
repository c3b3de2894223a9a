import { shortened } from '../text.ts'

interface Called {
  readonly id: number | string
  readonly label?: string | null
  readonly gpu?: { readonly name?: string }
}

/** An instance's name for people: "llama-finetune #4711", or "RTX 4090 #4711" without a label. */
export function instanceName({ id, label, gpu }: Called): string {
  return `${label || gpu?.name || 'Instance'} #${id}`
}

/** Characters of a label in a notification's title or on a button. */
const longestLabel = 32

/** An instance's name where there is little room: a long label is cut, the number stays. */
export function shortInstanceName({ id, label, gpu }: Called): string {
  return instanceName({ id, label: label && shortened(label, longestLabel), gpu })
}

/** A machine's GPUs: "2 × H100 SXM". */
export function gpuWords({ gpuCount, gpuName }: { gpuCount?: number; gpuName?: string }): string {
  return `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
}
