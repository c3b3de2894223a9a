import { shortened } from '../text.ts'

interface Called {
  readonly id: number | string
  readonly label?: string | null
  readonly gpu?: { readonly name?: string }
}

/** An instance's name for people: "llama-finetune #4711", or "RTX 4090 #4711" without a label. */
export function instanceName({ id, label, gpu }: Called): string {
  return `${isolated(label || gpu?.name || 'Instance')} #${id}`
}

/** A name that is written from right to left, kept from turning round what stands beside it. */
function isolated(name: string): string {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name
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

/** The same where the number says something: "2 × H100 SXM", but "RTX 4090" of one. */
export function gpuNameWords(gpus: { gpuCount?: number | undefined; gpuName?: string | undefined }): string {
  const { gpuCount = 1, gpuName = 'unknown GPU' } = gpus
  return gpuCount > 1 ? `${gpuCount} × ${gpuName}` : gpuName
}

interface Listing {
  /** The most names to list: people skim longer lists. */
  most?: number
  /** The separator before the last name. */
  last?: string
}

/** Names in a sentence: "a, b and c", or the first ones and the number of the others: "a, b and 7 more". */
export function named(names: readonly string[], { most = 12, last = ' and ' }: Listing = {}): string {
  // "1 more" would take as much room as the name.
  if (names.length > most + 1) return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(last)
}
