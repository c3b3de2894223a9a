import type { ApiRequest, Route } from '../http/route.ts'
import { readLaunch } from './launch-request.ts'
import { readSearch } from './offer-search.ts'
import { checkOverlay, joinOverlays } from './overlays.ts'

/** Section 4.2: search offers, and rent one. */
export const offerRoutes: readonly Route[] = [
  { method: 'POST', path: '/bundles/', permission: 'misc', answer: search },
  { method: 'PUT', path: '/asks/:offer/', permission: 'instance_write', answer: rent },
]

function search({ world, body }: ApiRequest) {
  return { offers: world.market.search(readSearch(body())) }
}

function rent({ world, body, id }: ApiRequest) {
  const offerId = id('offer')
  const launch = readLaunch(body(), world.templates)
  checkOverlay(world, launch, world.market.rentable(offerId))
  const keys = world.account.sshKeys.map(key => key.ssh_key)
  const instance = world.instances.create(offerId, launch, keys)
  joinOverlays(world, instance)
  if (launch.template) world.templates.launched(launch.template.hashId, instance.created)
  return { success: true, new_contract: instance.id, instance_api_key: instance.apiKey }
}
