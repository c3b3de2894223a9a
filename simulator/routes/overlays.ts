import type { ApiRequest, Routes } from '../http/route.ts'
import type { Instance, Launch } from '../world/instances/instance.ts'
import type { Offer } from '../world/market/offers.ts'
import type { World } from '../world/world.ts'

/** Networks of instances in one cluster, known from deployments; the interface lacks them. */
export const overlayRoutes: Routes = {
  'GET /overlay/': { permission: 'instance_read', answer: list },
  'POST /overlay/': { permission: 'instance_write', answer: create },
  'PUT /overlay/': { permission: 'instance_write', answer: join },
  'DELETE /overlay/': { permission: 'instance_write', answer: remove },
}

function list({ world }: ApiRequest) {
  return world.overlays.list().map(overlay => ({
    overlay_id: overlay.id,
    name: overlay.name,
    internal_subnet: `${overlay.net}.0/24`,
    cluster_id: overlay.cluster,
    instances: world.overlays.members(overlay),
  }))
}

function create({ world, body }: ApiRequest) {
  const fields = body()
  const { name } = world.overlays.create(fields.integer('cluster_id'), fields.string('name'))
  return { success: true, msg: `Created overlay ${name}.` }
}

function join({ world, body }: ApiRequest) {
  const fields = body()
  world.overlays.join(fields.string('name'), fields.integer('instance_id'))
  return { success: true, msg: 'The instance is in the overlay.' }
}

function remove({ world, body }: ApiRequest) {
  const fields = body()
  const id = fields.optionalInteger('overlay_id')
  world.overlays.delete(id === undefined ? { name: fields.string('overlay_name') } : { id })
  return { success: true, msg: 'The overlay and its instances are deleted.' }
}

/** Throws where the overlay that a launch asks for, by `-n NAME` in its environment, does not reach the offer. */
export function checkOverlay(world: World, { env }: Launch, offer: Offer): void {
  for (const name of overlaysIn(env)) world.overlays.refuseUnlessInside(name, offer)
}

/** Puts a new instance into the overlays that its launch asks for. */
export function joinOverlays(world: World, { id, launch }: Instance): void {
  for (const name of overlaysIn(launch.env)) world.overlays.join(name, id)
}

function overlaysIn(env: Readonly<Record<string, string>>): string[] {
  return Object.keys(env).flatMap(name => (name.startsWith('-n ') ? name.slice(3).trim() : []))
}
