import { stripVTControlCharacters } from 'node:util'
import type { DiskMetrics, GpuMetrics } from '../../contract/instance/metrics.ts'
import { firstLines } from '../../contract/text.ts'

/** What is asked of every GPU; its name last, for it may hold commas. */
const fields = [
  'index',
  'utilization.gpu',
  'memory.used',
  'memory.total',
  'temperature.gpu',
  'power.draw',
  'power.limit',
  'name',
]

export const gpuQuestion = `nvidia-smi --query-gpu=${fields.join(',')} --format=csv,noheader,nounits`
export const diskQuestion = 'df -kP'

const mostGpus = 64
const mostDisks = 8
/** What is read of an answer: a machine has some dozen mounts, and a line of a path of 4,096 bytes is not shown. */
const bounds = { lines: 512, length: 4096 }

/** The GPUs in what `gpuQuestion` prints. What a card does not know, `[N/A]`, is left out. */
export function readGpus(text: string): GpuMetrics[] {
  return firstLines(text, { ...bounds, lines: mostGpus }).flatMap(readGpu)
}

function readGpu(line: string): GpuMetrics[] {
  const cells = line.split(',').map(cell => cell.trim())
  const [index, load, memoryUsed, memoryTotal, temperature, power, powerLimit] = cells.map(number)
  if (cells.length < fields.length || index === undefined || !Number.isInteger(index)) return []
  const told = { load, memoryUsed, memoryTotal, temperature, power, powerLimit }
  const known = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined))
  return [{ index, name: plain(cells.slice(fields.length - 1).join(', ')), ...known }]
}

/** Places of the system's own, at which nobody keeps anything. */
const systemMounts = /^\/(dev|proc|sys|run|etc|boot|usr|var\/lib)(\/|$)/

/** The disks in what `diskQuestion` prints, the root first; one that is mounted twice is told once. */
export function readDisks(text: string): DiskMetrics[] {
  const seen = new Set<string>()
  const disks = firstLines(text, bounds).flatMap(line => {
    const words = line.trim().split(/\s+/)
    // Its device and its mount may hold spaces: what is between them has none.
    const share = words.findIndex(
      (word, at) => at > 3 && /^\d{1,3}%$/.test(word) && words.slice(at - 3, at).every(isCount),
    )
    const [size, used] = words.slice(share - 3).map(Number)
    const mount = words.slice(share + 1).join(' ')
    if (share < 0 || !size || used === undefined || !mount.startsWith('/') || systemMounts.test(mount))
      return []
    const same = words.slice(0, share - 1).join(' ')
    if (seen.has(same)) return []
    seen.add(same)
    return [{ mount: plain(mount), size: size * 1024, used: used * 1024 }]
  })
  return disks.slice(0, mostDisks)
}

function isCount(word: string): boolean {
  return /^\d{1,15}$/.test(word)
}

function number(cell: string): number | undefined {
  return /^-?\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : undefined
}

/** Somebody else's text, as one harmless line. */
function plain(text: string): string {
  return stripVTControlCharacters(text.slice(0, 1024))
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, 120)
}
