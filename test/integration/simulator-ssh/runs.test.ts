import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NodeSSH } from 'node-ssh'
import { expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Connection } from '#ssh/connection/connection.ts'
import { outputOf } from '#ssh/exec.ts'
import { endRun, markRun, readRunStatus, startRun } from '#ssh/runs/runs.ts'
import { readTakenOver, sidePlace, takeOver } from '#ssh/runs/take-over.ts'
import { connect, startInstance } from './instance.ts'

/** A simulated instance and a connection for Berth's run scripts. */
async function scene() {
  const instance = await startInstance()
  const client = await connect(instance)
  const connection: Connection = {
    ssh: new NodeSSH(),
    client,
    address: { host: instance.host, port: instance.port },
    hostKey: { fingerprint: instance.hostKeyFingerprint, line: '', isFirst: true, sharedWith: [] },
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

test('what was copied from another machine lies in its own folder, and the whole files of it are taken over', async () => {
  const { instance, connection } = await scene()
  const ask = async (input: string) =>
    (await outputOf(connection, 'sh -s', { clock: systemClock, within: 60_000, most: 4096, input })).bytes
      .toString()
      .trim()
  const side = '.berth/left/4710'
  expect(await ask(sidePlace(side, 1))).toBe(`/root/${side}`)
  const end = Math.floor(Date.now() / 1000)
  const put = (path: string, text: string, age: number) => {
    const file = join(instance.files, 'root', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    utimesSync(file, end - age, end - age)
  }
  put('own.txt', 'mine', 0)
  put(`${side}/alive/alive`, `${end}\n`, 0)
  put(`${side}/0/out/model.pt`, 'whole', 60)
  put(`${side}/0/out/half.pt`, 'ha', 3)
  const answer = readTakenOver(await ask(await takeOver(side, 'berth/p1', ['out'])))
  expect(answer).toEqual({ found: 2, files: 1, left: 1, missed: 1, newest: end - 60, end })
  expect(existsSync(join(instance.files, 'root', side))).toBe(false)
  expect(readFileSync(join(instance.files, 'root/berth/p1/out/model.pt'), 'utf8')).toBe('whole')
  expect(readFileSync(join(instance.files, 'root/own.txt'), 'utf8')).toBe('mine')
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
