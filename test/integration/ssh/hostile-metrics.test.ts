import { once } from 'node:events'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { InstanceMetrics } from '#shared/instance/metrics.ts'
import { watchMetrics } from '#ssh/monitor/watch-metrics.ts'
import { many, nastyKinds } from '#test/hostile/megabytes.ts'
import { listen } from '#test/loopback.ts'
import { newKey } from '#test/new-key.ts'
import { openScratch } from './machine.ts'
import { target } from './steps.ts'

/** A host that answers every command with this text and then a valid line of disks. */
async function hostThatPrints(text: Buffer) {
  const hostKeys = [newKey().private]
  const server = new ssh2.Server({ hostKeys }, client => {
    client.on('error', () => undefined)
    client.on('authentication', context => context.accept())
    client.on('session', accept =>
      accept().on('exec', (acceptExec, _reject, { command }) => {
        const channel = acceptExec()
        channel.on('error', () => undefined)
        // What the shell prints before and after the command.
        const [begin = '', end = ''] = [...command.matchAll(/echo (\w+)""(\w+)/g)].map(
          ([, a, b]) => `${a}${b}`,
        )
        channel.write(`${begin}\n`)
        channel.write(text)
        channel.write(`\noverlay 20971520 5242880 15728640 25% /\n${end} 0\n`)
        channel.exit(0)
        channel.end()
      }),
    )
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  return openScratch().ssh.connect(target({ direct: { host: '127.0.0.1', port } }))
}

test('reading metrics ends, whatever a host prints', async () => {
  for (const [about, piece] of nastyKinds) {
    const text = Buffer.from(many(piece, 60_000)).subarray(0, 60_000)
    const { connection, release } = await hostThatPrints(text)
    const { stream } = watchMetrics(connection, systemClock)
    const [line] = await once(stream, 'data')
    const metrics = JSON.parse(String(line)) as InstanceMetrics
    expect(metrics.gpus, about).toEqual([])
    expect(metrics.gpusUnread, about).toBe('nvidia-smi says “overlay 20971520 5242880 15728640 25% /”')
    // Nothing is read after more lines than a machine has mounts.
    const lines = text.toString().split('\n').length
    expect(metrics.disks, about).toHaveLength(lines > 500 ? 0 : 1)
    stream.destroy()
    release()
  }
})
