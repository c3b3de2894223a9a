import { NodeSSH } from 'node-ssh'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { putWatchdog, readWatchdog, removeWatchdog, watchdogLog } from '#ssh/watchdog/watchdog.ts'
import { newKey } from '#test/new-key.ts'
import { startService } from './service.ts'

const key = newKey()

/** A running instance, with steps for Berth's watchdog on it. */
async function scene(body: Record<string, unknown> = {}) {
  const service = await startService()
  const { sim, call } = service
  onTestFinished(() => sim.close())
  const { id } = await service.rent(body)
  await call('POST', `/api/v0/instances/${id}/ssh/`, { ssh_key: key.public })
  await sim.controls.advance(300)
  const now = () => sim.controls.ledger().now
  async function connect(): Promise<Connection> {
    const ssh = new NodeSSH()
    const { ssh_port: port } = (await service.instance(id)) as { ssh_port: number }
    await ssh.connect({ host: '127.0.0.1', port, username: 'root', privateKey: key.private })
    onTestFinished(() => ssh.dispose())
    if (!ssh.connection) throw new Error('no connection')
    return {
      ssh,
      client: ssh.connection,
      address: { host: '127.0.0.1', port },
      hostKey: { fingerprint: '', line: '', isFirst: true, sharedWith: [] },
      lost: new Promise(() => undefined),
      hasEnded: () => false,
      isFull: () => false,
      answered: doing => doing,
      close: () => ssh.dispose(),
    }
  }
  const connection = await connect()
  const put = (request: WatchdogRequest) =>
    putWatchdog(
      connection,
      systemClock,
      { request, instance: id, url: sim.baseUrl, now: now(), tick: 10, owner: 'here' },
      'one',
    )
  const status = async () => (await service.instance(id))['actual_status']
  return { sim, service, id, now, connect, connection, put, status }
}

test('a watchdog stops its instance at its exact time, though the clock jumps past it', async () => {
  const { sim, id, now, connect, put, status } = await scene()
  const at = Math.round(now()) + 1800
  expect(await put({ action: 'stop', at })).toMatchObject({ alive: true, placed: true, request: { at } })
  await sim.controls.advance(900)
  expect(await status()).toBe('running')
  await sim.controls.advance(8 * 3600)
  expect(await status()).toBe('stopped')
  const gpu = sim.controls.ledger().charges.filter(({ kind }) => kind === 'gpu')
  expect(Math.abs((gpu.at(-1)?.to ?? 0) - at)).toBeLessThan(15)

  // After another start the past time has no effect, and the status reports the stop.
  await sim.controls.forceStatus(id, 'running')
  await sim.controls.advance(600)
  expect(await status()).toBe('running')
  const reading = await readWatchdog(await connect(), systemClock, '')
  expect(reading?.did).toMatchObject({ action: 'stop', why: 'time' })
  const log = await watchdogLog(await connect(), systemClock)
  expect(log.map(({ text }) => text)).toEqual([`watching instance ${id}`, 'its time has come: stop'])
})

test('a time that came hours before a start stops five minutes after it, even to be destroyed, and once', async () => {
  const { sim, id, now, put, status } = await scene()
  await put({ action: 'destroy', at: Math.round(now()) + 1800 })
  await sim.controls.forceStatus(id, 'stopped')
  await sim.controls.advance(8 * 3600)
  await sim.controls.forceStatus(id, 'running')
  await sim.controls.advance(200)
  expect(await status()).toBe('running')
  await sim.controls.advance(200)
  expect(await status()).toBe('stopped')
  await sim.controls.forceStatus(id, 'running')
  await sim.controls.advance(3600)
  expect(await status()).toBe('running')
})

test('an expired lease stops the instance, and a renewal postpones that', async () => {
  const { sim, connection, put, status } = await scene()
  await put({ action: 'stop', lease: 1200 })
  await sim.controls.advance(1000)
  await readWatchdog(connection, systemClock, 'another')
  await sim.controls.advance(1000)
  expect(await status()).toBe('running')
  await sim.controls.advance(400)
  expect(await status()).toBe('stopped')
})

test('an instance idle for 30 minutes is destroyed where that is requested', async () => {
  const { sim, put } = await scene()
  await put({ action: 'destroy', idle: { seconds: 1800, below: 5 } })
  await sim.controls.advance(12 * 3600)
  expect(sim.controls.instances()).toEqual([])
})

test('a removed watchdog is not found and does not stop its instance', async () => {
  const { sim, connection, put, status } = await scene()
  expect(await readWatchdog(connection, systemClock, '')).toBeUndefined()
  await put({ action: 'stop', lease: 600 })
  await removeWatchdog(connection, systemClock, 7)
  expect(await readWatchdog(connection, systemClock, '')).toBeUndefined()
  await sim.controls.advance(3600)
  expect(await status()).toBe('running')
})
