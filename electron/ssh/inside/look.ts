import { stripVTControlCharacters } from 'node:util'
import type { DiskLook, GpuLook } from '../../contract/instance/inside.ts'

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

/** The GPUs in what `gpuQuestion` prints. What a card does not know, `[N/A]`, is left out. */
export function readGpus(text: string): GpuLook[] {
  return text.split('\n').slice(0, mostGpus).flatMap(readGpu)
}

function readGpu(line: string): GpuLook[] {
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
export function readDisks(text: string): DiskLook[] {
  const seen = new Set<string>()
  const disks = text.split('\n').flatMap(line => {
    const cells = /^(.+?)\s+(\d+)\s+(\d+)\s+\d+\s+\d+%\s+(\/.*)$/.exec(line)
    const [, system = '', size = '', used = '', mount = ''] = cells ?? []
    const same = `${system} ${size} ${used}`
    if (!cells || Number(size) === 0 || systemMounts.test(mount) || seen.has(same)) return []
    seen.add(same)
    return [{ mount: plain(mount), size: Number(size) * 1024, used: Number(used) * 1024 }]
  })
  return disks.slice(0, mostDisks)
}

function number(cell: string): number | undefined {
  return /^-?\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : undefined
}

/** Somebody else's text, as one harmless line. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, 120)
}
