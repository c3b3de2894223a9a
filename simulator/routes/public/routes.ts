import { type ApiRequest, type Layer, layered, type Route, routesOf } from '#simulator/http/route.ts'
import { publicAccount } from './account.ts'
import { billingRoutes } from './billing.ts'
import { depositRoutes } from './deposits.ts'
import { environmentRoutes } from './environment.ts'
import { instancePages, publicInstances } from './instances.ts'
import { publicOffers } from './offers.ts'
import { recordRoutes } from './records.ts'
import { registryRoutes } from './registries.ts'
import { publicTemplates } from './templates.ts'
import { publicVolumeRoutes } from './volumes.ts'
import { publicWebhooks } from './webhooks.ts'

/** Copies between instances, which may be named `C.123`; `vast.123` is the backup of one, here as if it were it. */
const publicTransfers: Layer = {
  'PUT /commands/copy_direct/': (request, plain) => plain(plainIds(request)),
  'DELETE /commands/copy_direct/': (request, plain) => plain(plainIds(request)),
}

const layer = {
  ...publicAccount,
  ...publicInstances,
  ...publicOffers,
  ...publicTemplates,
  ...publicTransfers,
  ...publicVolumeRoutes,
  ...publicWebhooks,
  ...billingRoutes,
  ...depositRoutes,
  ...environmentRoutes,
  ...recordRoutes,
  ...registryRoutes,
}

/** The public deployment as a layer over the interface's routes. */
export function publicRoutes(routes: readonly Route[]): Route[] {
  return [...layered(routes, layer), ...routesOf(instancePages)].map(route => ({ ...route, only: 'public' }))
}

function plainIds(request: ApiRequest): ApiRequest {
  return {
    ...request,
    body: code => {
      const fields = request.body(code)
      const sides = Object.entries(fields.values).map(([name, value]) => [
        name,
        name.endsWith('_id') && typeof value === 'string' ? value.replace(/^(?:C|vast)\./, '') : value,
      ])
      return fields.with(Object.fromEntries(sides))
    },
  }
}
