import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { PlannedVolume } from '#shared/project/project.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { micros } from '#shared/spending/money.ts'
import { needingPermission } from '../bridge/problems.ts'

/**
 * The volume that a project mounts: the account's of that name or number, of several the one on a machine that was `used`,
 * else one to create. Throws `no_volumes` where the service has none, and `no_such_volume` or `many_such_volumes` where
 * the file does not say which one to mount.
 */
export async function volumeOf(
  { volume }: ProjectSpec,
  client: Pick<ServiceClient, 'volumes'>,
  used: ReadonlySet<number>,
): Promise<PlannedVolume | undefined> {
  if (!volume) return undefined
  const { name, at, size } = volume
  const found = (await volumesOf(client)).filter(({ id, label }) => label === name || numberOf(name) === id)
  const inUse = found.filter(({ machine_id }) => machine_id !== undefined && used.has(machine_id))
  const [one, another] = inUse.length === 1 ? inUse : found
  if (another) throw new BerthError(manySuchVolumes(name, found))
  if (!one) {
    if (size === undefined) throw new BerthError(noSuchVolume(name))
    return { name, at, size }
  }
  const cost = one.storage_total_cost
  return {
    name,
    at,
    id: one.id,
    machineId: one.machine_id,
    size: one.disk_space,
    costPerHour: cost === undefined ? undefined : micros(cost),
  }
}

async function volumesOf({ volumes }: Pick<ServiceClient, 'volumes'>) {
  try {
    return await needingPermission('instance_read', volumes.list())
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_supported') throw new BerthError(noVolumes)
    throw error
  }
}

/** `4711`, and the forms in which volumes are shown: `#4711` and `V.4711`. */
function numberOf(name: string): number | undefined {
  const [, digits] = /^(?:#|V\.)?(\d+)$/.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Why no offer fits a volume's machine. */
export function nothingOnMachine({ name, machineId }: PlannedVolume): Problem {
  return {
    code: 'nothing_on_machine',
    message: `No GPU that matches berth.yaml is free on machine ${machineId}, where the volume ${name} is.`,
    advice: 'Try again later, loosen the requirements, or copy its data to a volume elsewhere.',
  }
}

/** Each of a sweep's machines would create one. */
export function newVolumeForMany(name: string): Problem {
  return {
    code: 'new_volume_for_many',
    message: `The volume ${name} doesn’t exist yet, and each of the sweep’s machines would create one.`,
    advice: 'Run the project once without a sweep, or with at_once: 1, which creates it.',
  }
}

const noVolumes = {
  code: 'no_volumes',
  message: 'This service has no volumes.',
  advice: 'Remove volume from berth.yaml.',
}
function noSuchVolume(name: string): Problem {
  return {
    code: 'no_such_volume',
    message: `The account has no volume ${name}.`,
    advice: `To create it, add a size: volume: { name: ${name}, at: /data, size: 50 }.`,
  }
}
function manySuchVolumes(name: string, found: readonly { id: number; machine_id?: number }[]): Problem {
  const all = found.map(({ id, machine_id: machine }) =>
    machine === undefined ? `#${id}` : `#${id} (on machine ${machine})`,
  )
  return {
    code: 'many_such_volumes',
    message: `${found.length} volumes are named ${name}.`,
    advice: `Choose one by its id: ${all.join(', ')}.`,
  }
}
