import type { ApiRequest, Routes } from '../http/route.ts'
import type { Instance } from '../world/instances/instance.ts'
import type { Launch } from '../world/instances/launch.ts'
import type { World } from '../world/world.ts'
import { readLaunch } from './launch-request.ts'
import { readSearch } from './offer-search.ts'
import { checkOverlay, joinOverlays } from './overlays.ts'

/** Section 4.2: search offers, and rent one. */
export const offerRoutes: Routes = {
  'POST /bundles/': { permission: 'misc', answer: search },
  'PUT /asks/:offer/': { permission: 'instance_write', answer: rent },
}

function search({ world, body }: ApiRequest) {
  return { offers: world.market.search(readSearch(body())) }
}

function rent({ world, body, id }: ApiRequest) {
  const offerId = id('offer')
  const launch = readLaunch(body(), world.templates)
  checkOverlay(world, launch, world.market.rentable(offerId))
  const instance = createInstance(world, offerId, launch)
  return { success: true, new_contract: instance.id, instance_api_key: instance.apiKey }
}

/** Rents an offer: the account's SSH keys get in, overlays are joined, and a template counts it. */
export function createInstance(world: World, offerId: number, launch: Launch): Instance {
  const keys = world.account.sshKeys.map(key => key.ssh_key)
  const instance = world.instances.create(offerId, launch, keys)
  joinOverlays(world, instance)
  if (launch.template) world.templates.launched(launch.template.hashId, instance.created)
  return instance
}
