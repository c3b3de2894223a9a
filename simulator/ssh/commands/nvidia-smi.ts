import type { Machine } from '../machine.ts'
import type { Call } from '../shell/command.ts'

const driver = '550.127.05'
const cuda = '12.4'

/** The present values of one GPU. */
interface Reading {
  index: number
  name: string
  /** % */
  load: number
  /** MiB */
  memoryUsed: number
  /** MiB */
  memoryTotal: number
  /** °C */
  temperature: number
  /** W */
  power: number
  /** W */
  powerLimit: number
}

/** `nvidia-smi`, and `nvidia-smi --query-gpu=… --format=csv[,noheader][,nounits]`. */
export async function nvidiaSmi({ args, shell, out }: Call): Promise<number> {
  const gpus = readings(shell.machine)
  const queried = args.find(arg => arg.startsWith('--query-gpu='))?.slice('--query-gpu='.length)
  if (args.length === 0) {
    await out(table(gpus))
    return 0
  }
  const unknown = args.find(arg => !/^--(query-gpu|format)=/.test(arg))
  if (unknown !== undefined || queried === undefined) {
    await out(`Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n`)
    return 1
  }
  const format =
    args
      .find(arg => arg.startsWith('--format='))
      ?.slice('--format='.length)
      .split(',') ?? []
  if (!format.includes('csv')) {
    await out('"--format=" switch is missing. It is required when using --query-* switches\n')
    return 2
  }
  return csv(gpus, queried.split(','), format, out)
}

function readings({ gpu, utilisation }: Machine): Reading[] {
  return Array.from({ length: gpu.count }, (_, index) => {
    const load = Math.round(Math.min(100, Math.max(0, utilisation())))
    const powerLimit =
      gpu.memoryMb >= 79_000 ? 700 : gpu.memoryMb >= 40_000 ? 400 : gpu.memoryMb >= 20_000 ? 350 : 220
    return {
      index,
      name: gpu.name.startsWith('NVIDIA') ? gpu.name : `NVIDIA ${gpu.name}`,
      load,
      memoryUsed: load === 0 ? 4 : Math.round(gpu.memoryMb * (0.05 + (load / 100) * 0.85)),
      memoryTotal: gpu.memoryMb,
      temperature: Math.round(31 + index + load * 0.42),
      power: Math.round(powerLimit * (0.06 + (load / 100) * 0.88) * 100) / 100,
      powerLimit,
    }
  })
}

const columns: Record<string, { unit?: string; value: (gpu: Reading) => string }> = {
  index: { value: gpu => String(gpu.index) },
  name: { value: gpu => gpu.name },
  'utilization.gpu': { unit: '%', value: gpu => String(gpu.load) },
  'memory.used': { unit: 'MiB', value: gpu => String(gpu.memoryUsed) },
  'memory.total': { unit: 'MiB', value: gpu => String(gpu.memoryTotal) },
  'temperature.gpu': { value: gpu => String(gpu.temperature) },
  'power.draw': { unit: 'W', value: gpu => gpu.power.toFixed(2) },
  'power.limit': { unit: 'W', value: gpu => gpu.powerLimit.toFixed(2) },
}

async function csv(gpus: Reading[], fields: string[], format: string[], out: Call['out']): Promise<number> {
  const chosen = []
  for (const field of fields.map(name => name.trim())) {
    const column = columns[field]
    if (column === undefined) {
      await out(`Field "${field}" is not a valid field to query.\n\n`)
      return 2
    }
    chosen.push({ field, ...column })
  }
  const units = !format.includes('nounits')
  if (!format.includes('noheader')) {
    await out(
      `${chosen.map(({ field, unit }) => (units && unit ? `${field} [${unit}]` : field)).join(', ')}\n`,
    )
  }
  for (const gpu of gpus) {
    const row = chosen.map(({ unit, value }) => (units && unit ? `${value(gpu)} ${unit}` : value(gpu)))
    await out(`${row.join(', ')}\n`)
  }
  return 0
}

/** The first lines of the real table: driver, and for each GPU its name, temperature, power, memory and load. */
function table(gpus: Reading[]): string {
  const rule = `+${'-'.repeat(89)}+`
  const row = (...cells: [string, string, string]) =>
    `|${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('|')}|`
  return [
    rule,
    `|${` NVIDIA-SMI ${driver.padEnd(21)} Driver Version: ${driver.padEnd(16)} CUDA Version: ${cuda}`.padEnd(89)}|`,
    rule,
    row(' GPU  Name', '           Memory-Usage', ' GPU-Util'),
    row(' Temp   Perf          Pwr:Usage/Cap', '', ''),
    rule,
    ...gpus.flatMap(gpu => [
      row(`${String(gpu.index).padStart(4)}  ${gpu.name}`, memory(gpu), `${gpu.load}%`.padStart(8)),
      row(`${gpu.temperature}C`.padStart(5) + state(gpu), '', ''),
      rule,
    ]),
    '',
  ].join('\n')
}

/** Characters of the table's columns. */
const widths = [41, 24, 22]

function memory({ memoryUsed, memoryTotal }: Reading): string {
  return `${memoryUsed}MiB / ${memoryTotal}MiB`.padStart(23)
}

function state({ load, power, powerLimit }: Reading): string {
  return `    ${load > 5 ? 'P2' : 'P8'}${`${Math.round(power)}W / ${powerLimit}W`.padStart(24)}`
}
