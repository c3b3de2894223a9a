import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'vite'
import type { Row, Size } from './row.ts'
import { startThousand } from './thousand.ts'

const root = new URL('../..', import.meta.url).pathname

interface Reading {
  poll: number
  rss: number
  live: number
}

/** The main process's memory over polls of 1,000 instances, ten of which change each time. */
export async function memoryRows({ smoke }: Size, longer?: number): Promise<Row[]> {
  const polls = longer ?? (smoke ? 20 : 2000)
  const out = await mkdtemp(join(root, 'node_modules/.bench-'))
  const thousand = await startThousand()
  const changing = setInterval(() => thousand.change(10), 20)
  try {
    await build({
      // Built as the app is, to measure the code that ships.
      configFile: join(root, 'vite.main.config.ts'),
      logLevel: 'error',
      build: {
        outDir: out,
        sourcemap: false,
        rolldownOptions: { input: { 'memory-child': join(root, 'test/bench/memory-child.ts') } },
      },
    })
    const readings = await run(join(out, 'memory-child.js'), [thousand.baseUrl, String(polls)])
    const early = readings[0]
    const late = readings.at(-1)
    if (!early || !late) throw new Error('no memory was read')
    const growth = late.live / early.live
    const megabytes = late.rss / 1_000_000
    return [
      {
        what: `memory of the main process after ${late.poll.toLocaleString('en')} polls of 1,000 instances`,
        compared: `what is live, over that after ${early.poll} polls; resident in all`,
        measured: `${growth.toFixed(2)} ×, ${megabytes.toFixed(0)} MB`,
        budget: 'flat (at most 1.15 ×), below 150 MB',
        kept: growth <= 1.15 && megabytes < 150,
      },
    ]
  } finally {
    clearInterval(changing)
    await thousand.close()
    await rm(out, { recursive: true, force: true })
  }
}

async function run(script: string, args: readonly string[]): Promise<Reading[]> {
  const child = spawn(process.execPath, ['--expose-gc', script, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const readings: Reading[] = []
  createInterface({ input: child.stdout }).on('line', line => readings.push(JSON.parse(line) as Reading))
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`the process under measure ended with ${code}`)
  return readings
}
