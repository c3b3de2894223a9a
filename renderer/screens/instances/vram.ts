import type { InstanceView } from '#contract/instance/instance.ts'

/**
 * The memory of all GPUs of a running instance in GB, and the used part, given in MiB, where it is known. Undefined
 * where the instance does not run or the service does not report its memory.
 */
export function vramOf(
  { state, gpu }: Pick<InstanceView, 'state' | 'gpu'>,
  usedMiB: number | undefined,
): { total: number; used?: number } | undefined {
  if (state !== 'running' || !gpu?.memory) return undefined
  const total = (gpu.memory * gpu.count) / 1024
  return usedMiB === undefined ? { total } : { total, used: Math.min(usedMiB / 1024, total) }
}
