import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { at } from '#build/places.ts'
import { BerthConnection } from '#cli/connection.ts'
import { scratchFolder, startBerth, startSimulatorProcess } from '../berth/browser.ts'
import { rentRunning } from '../e2e/account-steps.ts'
import { median, type Row, type Size } from './row.ts'

/** Milliseconds of a call beyond Node's own start. */
const budget = 150

/** `berth ps` with ten instances: 20 consecutive calls, each compared with a bare start of Node. */
export async function commandRows({ smoke }: Size): Promise<Row[]> {
  const sim = await startSimulatorProcess(['--speed', '1'])
  const home = await scratchFolder()
  const berth = await startBerth(home.path)
  try {
    for (let made = 0; made < (smoke ? 1 : 10); made += 1) await rentRunning(sim)
    const connection = await BerthConnection.open(join(home.path, 'berth.sock'))
    await connection.command('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
    connection.close()
    const call = () => timed([at('dist/main/cli.js'), 'ps', '--json', '--no-start'], home.path)
    const bare: number[] = []
    const extra: number[] = []
    await call()
    for (let round = 0; round < (smoke ? 1 : 20); round += 1) {
      const plain = await timed(['-e', '0'], home.path)
      bare.push(plain)
      extra.push((await call()) - plain)
    }
    const slowest = Math.max(...extra)
    return [
      {
        what: 'berth ps, the slowest of 20 calls in a row',
        compared: `a bare Node start of ${median(bare).toFixed(0)} ms; the median is ${median(extra).toFixed(0)} ms more`,
        measured: `${slowest.toFixed(0)} ms more`,
        budget: `at most ${budget} ms`,
        kept: slowest <= budget,
      },
    ]
  } finally {
    await berth.stop()
    await sim.stop()
    await home.remove()
  }
}

/** Milliseconds of a Node program's run. Throws unless it exits with 0. */
async function timed(args: readonly string[], home: string): Promise<number> {
  const begun = performance.now()
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, BERTH_HOME: home } })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`)
  return performance.now() - begun
}
