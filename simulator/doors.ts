import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { environmentVariables } from './routes/launch-request.ts'
import { copyTree } from './ssh/files/copy-tree.ts'
import { errorCode, Scratch } from './ssh/files/scratch.ts'
import type { InstanceSsh } from './ssh/instance-ssh.ts'
import type { WatchdogPlace } from './ssh/machine.ts'
import type { WorldClock } from './world/clock.ts'
import { secret } from './world/draw.ts'
import type { Instance } from './world/instances/instance.ts'
import { measure, movedSoFar } from './world/instances/load.ts'
import { placeWatchdog, renewLease, watchdogReport } from './world/instances/watchdog.ts'
import type { Side } from './world/transfers.ts'
import type { World } from './world/world.ts'

/** The SSH access to one instance. Its steps run one after another. */
interface Door {
  instance: Instance
  wanted: boolean
  ssh: InstanceSsh | null
  work: Promise<void>
}

/**
 * The SSH servers of the instances: open while an instance is `running`, closed otherwise, on the same port
 * again where that is still free. Each has a scratch folder that lasts until the instance is destroyed.
 */
export class Doors {
  readonly #world: World
  readonly #doors = new Map<number, Door>()
  readonly #scratchPath: string | undefined
  #scratch: Promise<string> | null = null

  /** `scratch` is the folder for the instances' files, created when it is first needed. */
  constructor(world: World, scratch: string | undefined) {
    this.#world = world
    this.#scratchPath = scratch
  }

  /** Opens and closes servers to match the world's state; resolves when that is done. */
  async follow(): Promise<void> {
    const instances = this.#world.instances.list()
    const existing = new Set(instances.map(instance => instance.id))
    for (const instance of instances) this.#want(instance, instance.status === 'running')
    for (const [id, door] of this.#doors) if (!existing.has(id)) this.#remove(id, door)
    await Promise.all([...this.#doors.values()].map(door => door.work))
    for (const transfer of this.#world.transfers.takeDone()) await this.#copy(transfer.from, transfer.to)
  }

  /** Closes every door and removes the scratch folders. */
  async close(): Promise<void> {
    const doors = [...this.#doors.values()]
    for (const door of doors) {
      door.wanted = false
      this.#then(door, () => this.#match(door))
    }
    await Promise.all(doors.map(door => door.work))
    if (this.#scratch) await rm(await this.#scratch, { recursive: true, force: true })
  }

  #want(instance: Instance, wanted: boolean): void {
    let door = this.#doors.get(instance.id)
    if (!door) {
      door = { instance, wanted: false, ssh: null, work: Promise.resolve() }
      this.#doors.set(instance.id, door)
      this.#then(door, async () => {
        this.#world.sshPorts.set(instance.id, await freePort())
      })
    }
    if (door.wanted === wanted) return
    door.wanted = wanted
    const changed = door
    this.#then(changed, () => this.#match(changed))
  }

  #remove(id: number, door: Door): void {
    this.#doors.delete(id)
    this.#world.sshPorts.delete(id)
    door.wanted = false
    this.#then(door, async () => {
      await this.#match(door)
      if (this.#scratch) await rm(join(await this.#scratch, String(id)), { recursive: true, force: true })
    })
  }

  /** Copies the source to the target; a missing source copies nothing. */
  async #copy(from: Side, to: Side): Promise<void> {
    if (from.instanceId === null || to.instanceId === null || !this.#scratch) return
    const folder = await this.#scratch
    const hasDisk = (id: number) => this.#doors.get(id)?.instance.joinedSsh?.hasDisk === true
    try {
      if (hasDisk(from.instanceId) && hasDisk(to.instanceId)) {
        await cp(from.path, join(to.path, basename(from.path)), { recursive: true, preserveTimestamps: true })
        return
      }
      const source = new Scratch(join(folder, String(from.instanceId)))
      copyTree(source, from.path, new Scratch(join(folder, String(to.instanceId))), to.path)
    } catch (error) {
      if (errorCode(error) === 'EIO') console.error('A copy between instances failed:', error)
    }
  }

  async #match(door: Door): Promise<void> {
    if (door.wanted && !door.ssh) door.ssh = await this.#open(door.instance)
    if (!door.wanted && door.ssh) {
      await door.ssh.close()
      door.ssh = null
    }
  }

  async #open(instance: Instance): Promise<InstanceSsh> {
    const { facts } = instance.offer
    this.#scratch ??= makeScratch(this.#scratchPath)
    const files = join(await this.#scratch, String(instance.id))
    await mkdir(files, { recursive: true })
    // Loaded with the first instance: a world without one needs no SSH.
    const { startInstanceSsh } = await import('./ssh/instance-ssh.ts')
    const start = (port: number) =>
      startInstanceSsh({
        instanceId: instance.id,
        seed: this.#world.seed,
        hostname: `C.${instance.id}`,
        environment: environmentOf(this.#world, instance),
        overlayAddress: () => this.#world.overlays.addressOf(instance.id),
        gpu: { name: facts.gpu_name, count: facts.num_gpus, memoryMb: facts.gpu_ram },
        authorizedKeys: () => instance.sshKeys,
        jupyterToken: instance.jupyterToken,
        utilisation: () => measure(this.#world.seed, instance, this.#world.clock.now()).gpuUtil,
        disk: () => ({
          size: instance.launch.disk,
          used: instance.diskUsed ?? measure(this.#world.seed, instance, this.#world.clock.now()).diskUsed,
        }),
        moved: () => movedSoFar(this.#world.seed, instance, this.#world.clock.now()),
        watchdog: watchdogOf(instance, this.#world.clock),
        files,
        port,
      })
    const ssh = await start(this.#world.sshPorts.get(instance.id) ?? 0).catch(() => start(0))
    this.#world.sshPorts.set(instance.id, ssh.port)
    return ssh
  }

  #then(door: Door, step: () => Promise<void>): void {
    door.work = door.work.then(step).catch(error => {
      console.error(`The SSH server of instance ${door.instance.id} failed:`, error)
    })
  }
}

/** What a container is started with: the account's variables, those of its rental, and its own key. */
function environmentOf(
  { seed, environment }: World,
  { id, launch, apiKey }: Instance,
): Record<string, string> {
  const ofAccount = Object.fromEntries(environment.all())
  const variables: Record<string, string> = {
    ...ofAccount,
    ...environmentVariables(launch.env),
    CONTAINER_API_KEY: apiKey,
  }
  // The service makes the token itself, whatever the rental says.
  const hasPages = 'PORTAL_CONFIG' in variables || 'OPEN_BUTTON_PORT' in variables
  return hasPages ? { ...variables, OPEN_BUTTON_TOKEN: secret(seed, 'web token', id) } : variables
}

/** The access to an instance's watchdog from inside the instance. */
function watchdogOf(instance: Instance, clock: WorldClock): WatchdogPlace {
  return {
    read: () => instance.watchdog && watchdogReport(instance.watchdog, clock.now()),
    put(config, lease) {
      instance.watchdog = placeWatchdog(config, lease, clock.now())
    },
    renew(lease) {
      if (instance.watchdog) renewLease(instance.watchdog, lease, clock.now())
    },
    remove() {
      instance.watchdog = null
    },
  }
}

/** Creates the given folder, or a temporary one; for its user alone. */
async function makeScratch(path: string | undefined): Promise<string> {
  if (path === undefined) return mkdtemp(join(tmpdir(), 'berth-simulator-'))
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** A free port on loopback. */
async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
