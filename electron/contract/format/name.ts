interface Called {
  readonly id: number | string
  readonly label?: string | null
  readonly gpu?: { readonly name?: string }
}

/** An instance's name for people: "llama-finetune #4711", or "RTX 4090 #4711" without a label. */
export function instanceName({ id, label, gpu }: Called): string {
  return `${label || gpu?.name || 'Instance'} #${id}`
}

/** A machine's GPUs: "2 × H100 SXM". */
export function gpuWords({ gpuCount, gpuName }: { gpuCount?: number; gpuName?: string }): string {
  return `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
}
