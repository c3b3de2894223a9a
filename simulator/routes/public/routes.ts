import type { Route } from '#simulator/http/route.ts'
import { publicAccountRoutes } from './account.ts'
import { billingRoutes } from './billing.ts'
import { containerLogRoutes } from './container-log.ts'
import { publicInstanceRoutes } from './instances.ts'
import { publicOfferRoutes } from './offers.ts'
import { priceIncreaseRoutes } from './price-increases.ts'
import { publicSshKeyRoutes } from './ssh-keys.ts'
import { publicTemplateRoutes } from './templates.ts'
import { publicTransferRoutes } from './transfers.ts'
import { publicVolumeRoutes } from './volumes.ts'
import { publicWebhookRoutes } from './webhooks.ts'

/** Routes that the public deployment answers differently, or has beyond the interface. */
export const publicRoutes: readonly Route[] = [
  ...publicAccountRoutes,
  ...publicOfferRoutes,
  ...priceIncreaseRoutes,
  ...containerLogRoutes,
  ...publicInstanceRoutes,
  ...publicSshKeyRoutes,
  ...publicVolumeRoutes,
  ...publicTemplateRoutes,
  ...publicTransferRoutes,
  ...publicWebhookRoutes,
  ...billingRoutes,
]
