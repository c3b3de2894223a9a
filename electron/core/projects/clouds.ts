import type { SyncRequest } from '#shared/account/transfer.ts'
import { BerthError } from '#shared/problem.ts'
import { type CloudPlace, cloudCopiesOf, cloudPlaceOf, resultsOf } from '#shared/project/bounds.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import type { AccountContext } from '../account-context.ts'
import type { Transfers } from '../copies/perform.ts'
import { cloudConnections } from '../copies/start.ts'

/** The machine of a run, and the folder of its project there. */
interface CloudSide {
  instance: number
  folder: string
}

/**
 * The copies that a run makes from clouds before its set-up, through the account's cloud connections. Throws
 * `no_cloud_connection` or `many_cloud_connections` where the file does not say which one to use.
 */
export async function copiesFrom(
  context: Pick<AccountContext, 'client'>,
  spec: ProjectSpec,
  { instance, folder }: CloudSide,
): Promise<SyncRequest[]> {
  const copies = cloudCopiesOf(spec)
  const connectionOf = await connections(context, copies.length > 0)
  return copies.map(({ place, to }) => ({
    instance,
    direction: 'Cloud To Instance',
    instancePath: to.startsWith('/') ? to : `${folder}/${to}`,
    cloudPath: place.path,
    connection: connectionOf(place),
    flags: [],
  }))
}

/** The copies of a run's results to a cloud, in a folder named after the run. Throws the same. */
export async function copiesTo(
  context: Pick<AccountContext, 'client'>,
  spec: ProjectSpec,
  { instance, folder }: CloudSide,
  run: string,
): Promise<SyncRequest[]> {
  if (spec.to === undefined) return []
  const place = cloudPlaceOf(spec.to)
  const connectionOf = await connections(context, true)
  return resultsOf(spec).map(result => ({
    instance,
    direction: 'Instance To Cloud',
    instancePath: `${folder}/${result}`,
    cloudPath: `${place.path.replace(/(?<!\/)\/+$/, '')}/${run}/${result}`,
    connection: connectionOf(place),
    flags: [],
  }))
}

/** Throws as `copiesFrom` does, before anything costs money. */
export async function checkConnections(
  context: Pick<AccountContext, 'client'>,
  spec: ProjectSpec,
): Promise<void> {
  const places = [
    ...cloudCopiesOf(spec).map(({ place }) => place),
    ...(spec.to === undefined ? [] : [cloudPlaceOf(spec.to)]),
  ]
  const connectionOf = await connections(context, places.length > 0)
  for (const place of places) connectionOf(place)
}

/** Makes the copies, one after another. Copies that a killed run started since `since` are not repeated. */
export async function copyAll(
  transfers: Pick<Transfers, 'syncToEnd'>,
  copies: readonly SyncRequest[],
  since: number,
  signal: AbortSignal,
  run: string,
): Promise<void> {
  for (const copy of copies) await transfers.syncToEnd(copy, since, signal, run)
}

async function connections(
  { client }: Pick<AccountContext, 'client'>,
  isNeeded: boolean,
): Promise<(place: CloudPlace) => string> {
  const listed = isNeeded ? await cloudConnections(client()) : []
  return ({ provider, connection }) => {
    if (connection !== undefined) return connection
    const [one, another] = listed.filter(known => known.provider === provider)
    if (!one) throw new BerthError(noConnection(provider))
    if (another) throw new BerthError(manyConnections(provider, one.id))
    return one.id
  }
}

function noConnection(provider: string) {
  return {
    code: 'no_cloud_connection',
    message: `The account has no cloud connection to ${provider}.`,
    advice: `Create one in the service’s web console, or use an id: ${provider}.101://…`,
  }
}
function manyConnections(provider: string, id: string) {
  return {
    code: 'many_cloud_connections',
    message: `The account has more than one cloud connection to ${provider}.`,
    advice: `Choose one by its id: ${provider}.${id}://…`,
  }
}
