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

function table(gpus: Reading[]): string {
  const wide = (text: string) => `|${text.padEnd(89)}|`
  const row = (left: string, middle: string, right: string) =>
    `|${left.padEnd(41)}|${middle.padEnd(24)}|${right.padEnd(22)}|`
  const rule = (end: string, fill: string) =>
    `${end}${[41, 24, 22].map(width => fill.repeat(width)).join('+')}${end}`
  const lines = [
    `+${'-'.repeat(89)}+`,
    wide(` NVIDIA-SMI ${driver.padEnd(21)} Driver Version: ${driver.padEnd(16)} CUDA Version: ${cuda}`),
    rule('|', '-'),
    row(' GPU  Name                 Persistence-M ', ' Bus-Id          Disp.A ', ' Volatile Uncorr. ECC '),
    row(' Fan  Temp   Perf          Pwr:Usage/Cap ', '           Memory-Usage ', ' GPU-Util  Compute M. '),
    row('', '', '               MIG M. '),
    rule('|', '='),
    ...gpus.flatMap(gpu => [
      row(
        `${String(gpu.index).padStart(4)}  ${gpu.name.slice(0, 26).padEnd(26)}     On `,
        `  ${busId(gpu.index)} Off `,
        '                  Off ',
      ),
      row(
        `${`${Math.min(99, 20 + gpu.load)}%`.padStart(4)}${`${gpu.temperature}C`.padStart(6)}    ${state(gpu)}${power(gpu).padStart(24)} `,
        `${`${gpu.memoryUsed}MiB / ${gpu.memoryTotal}MiB`.padStart(23)} `,
        `${`${gpu.load}%`.padStart(8)}      Default `,
      ),
      row('', '', '                  N/A '),
      rule('+', '-'),
    ]),
    '',
    `+${'-'.repeat(89)}+`,
    wide(' Processes:'),
    wide('  GPU   GI   CI        PID   Type   Process name                              GPU Memory '),
    wide('        ID   ID                                                               Usage      '),
    `|${'='.repeat(89)}|`,
    ...processes(gpus).map(wide),
    `+${'-'.repeat(89)}+`,
  ]
  return `${lines.join('\n')}\n`
}

function state(gpu: Reading): string {
  return gpu.load > 5 ? 'P2' : 'P8'
}

function power(gpu: Reading): string {
  return `${Math.round(gpu.power)}W / ${gpu.powerLimit}W`
}

function processes(gpus: Reading[]): string[] {
  const busy = gpus.filter(gpu => gpu.load > 0)
  if (busy.length === 0) return ['  No running processes found']
  return busy.map(gpu => {
    const memory = `${gpu.memoryUsed - 4}MiB`.padStart(10)
    return `${String(gpu.index).padStart(5)}   N/A  N/A ${String(1304 + gpu.index).padStart(9)}      C   ${'python3'.padEnd(41)} ${memory} `
  })
}

function busId(index: number): string {
  return `00000000:${(index + 1).toString(16).toUpperCase().padStart(2, '0')}:00.0`
}
