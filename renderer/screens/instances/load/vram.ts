import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'

/**
 * The memory of all GPUs of an instance that runs in GB, and how much of it is used, from MiB, where that is told.
 * Undefined where it does not run, or where the service does not tell its memory.
 */
export function vramOf(
  { state, gpu }: Pick<InstanceView, 'state' | 'gpu'>,
  usedMiB: number | undefined,
): { total: number; used?: number } | undefined {
  if (state !== 'running' || !gpu?.memory) return undefined
  const total = (gpu.memory * gpu.count) / 1024
  return usedMiB === undefined ? { total } : { total, used: Math.min(usedMiB / 1024, total) }
}
