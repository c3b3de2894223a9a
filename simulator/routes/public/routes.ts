import { type Route, routesOf } from '#simulator/http/route.ts'
import { publicAccount, publicAccountRoutes } from './account.ts'
import { billingRoutes } from './billing.ts'
import { containerLogRoutes } from './container-log.ts'
import { publicInstanceRoutes, publicInstances } from './instances.ts'
import { layered } from './layer.ts'
import { publicOfferRoutes, publicOffers } from './offers.ts'
import { priceIncreaseRoutes } from './price-increases.ts'
import { publicSshKeyRoutes, publicSshKeys } from './ssh-keys.ts'
import { publicTemplates } from './templates.ts'
import { publicTransfers } from './transfers.ts'
import { publicVolumeRoutes } from './volumes.ts'
import { publicWebhookRoutes, publicWebhooks } from './webhooks.ts'

/** What the public deployment answers otherwise than the interface. */
const layer = {
  ...publicAccount,
  ...publicInstances,
  ...publicOffers,
  ...publicSshKeys,
  ...publicTemplates,
  ...publicTransfers,
  ...publicWebhooks,
}

/** The routes that the public deployment has beyond the interface. */
const added = {
  ...publicAccountRoutes,
  ...publicOfferRoutes,
  ...priceIncreaseRoutes,
  ...containerLogRoutes,
  ...publicInstanceRoutes,
  ...publicSshKeyRoutes,
  ...publicVolumeRoutes,
  ...publicWebhookRoutes,
  ...billingRoutes,
}

/** The public deployment as a layer over the interface's routes. */
export function publicRoutes(routes: readonly Route[]): Route[] {
  return [...routesOf(added), ...layered(routes, layer)].map(route => ({ ...route, only: 'public' }))
}
