import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NodeSSH } from 'node-ssh'
import { expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { endRun, markRun, readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { connect, startInstance } from './instance.ts'

/** A simulated instance and a connection for Berth's run scripts. */
async function scene() {
  const instance = await startInstance()
  const client = await connect(instance)
  const connection: Connection = {
    ssh: new NodeSSH(),
    client,
    address: { host: instance.host, port: instance.port },
    hostKey: { fingerprint: instance.hostKeyFingerprint, isFirst: true, sharedWith: [] },
    lost: new Promise(() => undefined),
    hasEnded: () => false,
    isFull: () => false,
    answered: doing => doing,
    close: () => client.end(),
  }
  return { instance, connection }
}

test('a run started twice runs once, and leaves its output, exit code and files', async () => {
  const { instance, connection } = await scene()
  const command = "echo it\\'s 'a b'\necho 1 > kept\nfalse"
  await startRun(connection, systemClock, 'one', { command, order: undefined, environment: {} })
  await startRun(connection, systemClock, 'one', { command, order: undefined, environment: {} })
  const status = () => readRunStatus(connection, systemClock, 'one', 0)
  await expect.poll(async () => (await status()).state).toBe('ended')
  expect(await status()).toMatchObject({ code: 1, bytes: Buffer.from("it's a b\n") })
  expect((await readRunStatus(connection, systemClock, 'one', 5)).bytes.toString()).toBe('a b\n')
  expect(readFileSync(join(instance.files, 'root/kept'), 'utf8')).toBe('1\n')
  await markRun(connection, systemClock, 'one', 'remove')
  expect((await status()).state).toBe('none')
})

test('a code that no process ends with is 255, however many digits it has', async () => {
  const { instance, connection } = await scene()
  await startRun(connection, systemClock, 'one', { command: 'false', order: undefined, environment: {} })
  const status = () => readRunStatus(connection, systemClock, 'one', 0)
  await expect.poll(status).toMatchObject({ state: 'ended', code: 1 })
  const file = join(instance.files, 'root/.berth/runs/one/code')
  for (const written of ['999', '9'.repeat(400)]) {
    writeFileSync(file, `${written}\n`)
    expect((await status()).code ?? 255).toBe(255)
  }
})

test('a training prints its progress, and ends with 130 when it is interrupted', async () => {
  const { instance, connection } = await scene()
  await startRun(connection, systemClock, 'two', {
    command: 'python3 train.py',
    order: undefined,
    environment: {},
  })
  const status = () => readRunStatus(connection, systemClock, 'two', 0)
  await expect.poll(async () => (await status()).bytes.toString()).toMatch(/Epoch 1\/3: +\d+%\|/)
  expect((await status()).state).toBe('running')
  await endRun(connection, systemClock, 'two')
  await expect.poll(status).toMatchObject({ state: 'ended', code: 130 })
  expect(existsSync(join(instance.files, 'root/results'))).toBe(false)
})

test('a finished training leaves its model in the results folder', async () => {
  const { instance, connection } = await scene()
  const command = 'python3 train.py --epochs 1'
  await startRun(connection, systemClock, 'three', { command, order: undefined, environment: {} })
  const status = () => readRunStatus(connection, systemClock, 'three', 0)
  await expect.poll(status).toMatchObject({ state: 'ended', code: 0 })
  expect(readFileSync(join(instance.files, 'root/results/loss.csv'), 'utf8')).toMatch(/^step,loss\n1,/)
  expect(existsSync(join(instance.files, 'root/results/model.safetensors'))).toBe(true)
})
