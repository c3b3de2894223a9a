import { invalidArgs } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'

/** A disk that several machines mount. `created` in world milliseconds. */
export interface NetworkDisk {
  readonly id: number
  readonly created: number
  /** The mount point on each machine. */
  readonly mounts: Map<number, string>
}

/** The account's network disks. */
export class NetworkDisks {
  readonly #clock: WorldClock
  readonly #all = new Map<number, NetworkDisk>()
  #nextId: number

  constructor(seed: number, clock: WorldClock) {
    this.#clock = clock
    this.#nextId = new Draw(seed, 'network disk ids').integer(300, 900)
  }

  list(): NetworkDisk[] {
    return [...this.#all.values()]
  }

  /** Makes a disk, or adds machines to the one with that id. Throws 400 `invalid_args` for an unknown disk. */
  add(mountPoint: string, machineIds: readonly number[], diskId: number | undefined): NetworkDisk {
    const disk = diskId === undefined ? this.#make() : this.#all.get(diskId)
    if (!disk) throw invalidArgs(`There is no network disk ${diskId}.`)
    for (const machineId of machineIds) disk.mounts.set(machineId, mountPoint)
    return disk
  }

  #make(): NetworkDisk {
    const disk = { id: this.#nextId, created: this.#clock.now(), mounts: new Map<number, string>() }
    this.#nextId += 1
    this.#all.set(disk.id, disk)
    return disk
  }
}
