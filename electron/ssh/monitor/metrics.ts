import { stripVTControlCharacters } from 'node:util'
import type { DiskMetrics, GpuMetrics, TrafficMetrics } from '#shared/instance/metrics.ts'
import { firstLines } from '#shared/text.ts'
import { plainLine } from './plain-output.ts'

/** The fields queried for each GPU; the name is last, since it may contain commas. */
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

/** A command of a GPU's driver, which may hang: it is killed after 8 seconds, where `timeout` is there. */
const limited = (command: string) =>
  `limit=; command -v timeout >/dev/null 2>&1 && limit="timeout -s KILL 8"; $limit ${command}`

export const gpuQuestion = limited(`nvidia-smi --query-gpu=${fields.join(',')} --format=csv,noheader,nounits`)
export const loadQuestion = limited('nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits')
/** Disks, and the bytes of each network interface so far. */
export const machineQuestion = 'df -kP; cat /proc/net/dev 2>/dev/null'

const mostGpus = 64
const mostDisks = 8
/** Limits of an answer. A machine has some dozen mounts; one with a path of 4,096 bytes is left out. */
const bounds = { lines: 512, length: 4096 }

/** Parses the output of `gpuQuestion`. Values that a GPU does not report, `[N/A]`, are left out. */
export function readGpus(text: string): GpuMetrics[] {
  return firstLines(text, { ...bounds, lines: mostGpus }).flatMap(readGpu)
}

function readGpu(line: string): GpuMetrics[] {
  const cells = line.split(',').map(cell => cell.trim())
  const [index, load, memoryUsed, memoryTotal, temperature, power, powerLimit] = cells.map(number)
  if (cells.length < fields.length || index === undefined || !Number.isInteger(index)) return []
  const values = { load, memoryUsed, memoryTotal, temperature, power, powerLimit }
  const reported = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  return [{ index, name: plain(cells.slice(fields.length - 1).join(', ')), ...reported }]
}

/**
 * The load of each GPU in percent, from the output of `loadQuestion` or `gpuQuestion`; undefined for a GPU that does not
 * report it. Other lines, such as warnings, count as nothing, and so does the exit code: only the output counts.
 */
export function readLoads(text: string): (number | undefined)[] {
  return firstLines(text, bounds)
    .flatMap(line => {
      const cell = line.trim()
      if (notReported.test(cell)) return [undefined]
      const load = number(cell.endsWith('%') ? cell.slice(0, -1).trimEnd() : cell)
      return load === undefined ? readGpu(line).map(gpu => gpu.load) : [load]
    })
    .slice(0, mostGpus)
}

/** The load of the busiest GPU; undefined if one does not report its load, since it may be busy. */
export function busiest(text: string): number | undefined {
  const loads = readLoads(text)
  const reported = loads.filter(load => load !== undefined)
  return reported.length === 0 || reported.length < loads.length ? undefined : Math.max(...reported)
}

/** Why no load or no GPU can be read, as a clause, from the script’s output. */
export function whyUnread(printed: string): string {
  const lastLine = plainLine(printed.trim().split('\n').at(-1) ?? '').slice(0, 120)
  return lastLine === '' ? 'nvidia-smi is missing or prints nothing' : `nvidia-smi says “${lastLine}”`
}

/** `[N/A]`, `[Not Supported]`, `N/A`. */
const notReported = /^(\[[^\]]*\]|N\/A)$/i

/** The system's own mounts, where nobody stores files. */
const systemMounts = /^\/(dev|proc|sys|run|etc|boot|usr|var\/lib)(\/|$)/

/** Parses the disks in the output of `machineQuestion`, in its order; a disk that is mounted twice is listed once. */
export function readDisks(text: string): DiskMetrics[] {
  const seen = new Set<string>()
  const disks = firstLines(text, bounds).flatMap(line => {
    const words = line.trim().split(/\s+/)
    // Device and mount may contain spaces; the columns between them do not.
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

/**
 * The bytes that all interfaces but `lo` have received and sent since they are up, from the output of `machineQuestion`;
 * undefined without any.
 */
export function readTraffic(text: string): TrafficMetrics | undefined {
  const links = firstLines(text, bounds).flatMap(line => {
    const [name = '', ...rest] = line.split(':')
    const counts = rest.join(':').trim().split(/\s+/)
    const [received, sent] = [counts[0] ?? '', counts[8] ?? '']
    if (name.trim() === 'lo' || counts.length < 16 || !isCount(received) || !isCount(sent)) return []
    return [{ received: Number(received), sent: Number(sent) }]
  })
  if (links.length === 0) return undefined
  return links.reduce((sum, link) => ({ received: sum.received + link.received, sent: sum.sent + link.sent }))
}

/** The traffic between two readings that are `seconds` apart; undefined if the counters were reset. */
export function trafficBetween(
  before: TrafficMetrics,
  after: TrafficMetrics,
  seconds: number,
): TrafficMetrics | undefined {
  const rate = (was: number, is: number) => Math.round((is - was) / seconds)
  const [received, sent] = [rate(before.received, after.received), rate(before.sent, after.sent)]
  return seconds > 0 && received >= 0 && sent >= 0 ? { received, sent } : undefined
}

function isCount(word: string): boolean {
  return /^\d{1,15}$/.test(word)
}

function number(cell: string): number | undefined {
  return /^-?\d{1,9}(\.\d{1,6})?$/.test(cell) ? Number(cell) : undefined
}

/** Untrusted text as one line, without escapes and control characters. */
function plain(text: string): string {
  return stripVTControlCharacters(text.slice(0, 1024))
    .replaceAll(/\p{Cc}/gu, '')
    .slice(0, 120)
}
