import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper } from 'ssh2'
import { onTestFinished } from 'vitest'
import { type InstanceSsh, type InstanceSshOptions, startInstanceSsh } from '#simulator/ssh/instance-ssh.ts'
import { type KeyPair, newKey } from '#test/new-key.ts'

export const ownKey: KeyPair = newKey()

export interface TestInstance extends InstanceSsh {
  /** The scratch folder on this machine. */
  files: string
}

/** Starts instance 4711 with its own scratch folder, which accepts `ownKey`; it ends with the test. */
export async function startInstance(options: Partial<InstanceSshOptions> = {}): Promise<TestInstance> {
  const outer = await mkdtemp(join(tmpdir(), 'berth-instance-'))
  onTestFinished(() => rm(outer, { recursive: true, force: true, maxRetries: 20 }))
  const files = await mkdtemp(join(outer, 'files-'))
  const instance = await startInstanceSsh({
    instanceId: 4711,
    seed: 7,
    hostname: 'C.4711',
    environment: {},
    overlayAddress: () => undefined,
    gpu: { name: 'RTX 4090', count: 2, memoryMb: 24_564 },
    authorizedKeys: () => [ownKey.public],
    jupyterToken: 'secret-token',
    utilisation: () => 63,
    disk: () => ({ size: 40, used: 10 }),
    moved: () => ({ received: 14_000, sent: 2800 }),
    watchdog: { read: () => null, put: () => undefined, renew: () => undefined, remove: () => undefined },
    files,
    ...options,
  })
  onTestFinished(() => instance.close()) // before the folder goes: the last hook runs first
  return { ...instance, files }
}

/** Connects and logs in. Rejects if the login fails. */
export async function connect(instance: InstanceSsh, config: ConnectConfig = {}): Promise<Client> {
  const client = new ssh2.Client()
  client.on('error', () => undefined) // a refused client may be reset as well
  onTestFinished(() => {
    client.destroy()
  })
  const ready = once(client, 'ready')
  client.connect({
    host: instance.host,
    port: instance.port,
    username: 'root',
    privateKey: ownKey.private,
    ...config,
  })
  await ready
  return client
}

export interface Outcome {
  out: string
  err: string
  status: number | null
}

/** Runs one command to its end. */
export function exec(client: Client, command: string, input = ''): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error)
        return
      }
      const outcome: Outcome = { out: '', err: '', status: null }
      channel.setEncoding('utf8').on('data', (text: string) => {
        outcome.out += text
      })
      channel.stderr.setEncoding('utf8').on('data', (text: string) => {
        outcome.err += text
      })
      channel.on('exit', status => {
        outcome.status = status
      })
      channel.on('close', () => resolve(outcome))
      channel.end(input)
    })
  })
}

/** The SFTP side of a connection. */
export function openSftp(client: Client): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp)))
  })
}
