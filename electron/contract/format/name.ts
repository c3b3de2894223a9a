interface Called {
  readonly id: number | string
  readonly label?: string | null
  readonly gpu?: { readonly name?: string }
}

/** An instance as people call it: "llama-finetune #4711", or "RTX 4090 #4711" without a label. */
export function instanceName({ id, label, gpu }: Called): string {
  return `${label || gpu?.name || 'Instance'} #${id}`
}

/** What a machine is: "2 × H100 SXM". */
export function gpuWords({ gpuCount, gpuName }: { gpuCount?: number; gpuName?: string }): string {
  return `${gpuCount ?? 1} × ${gpuName ?? 'unknown GPU'}`
}
