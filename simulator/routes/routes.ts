import { type Route, routesOf } from '../http/route.ts'
import { accountRoutes } from './account.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { instanceRoutes } from './instances.ts'
import { machineRoutes } from './machines.ts'
import { notificationRoutes } from './notifications.ts'
import { offerRoutes } from './offers.ts'
import { overlayRoutes } from './overlays.ts'
import { publicRoutes } from './public/routes.ts'
import { sshKeyRoutes } from './ssh-keys.ts'
import { templateRoutes } from './templates.ts'
import { transferRoutes } from './transfers.ts'
import { twoFactorRoutes } from './two-factor.ts'
import { webhookRoutes } from './webhooks.ts'
import { workergroupRoutes } from './workergroups.ts'

/** Section 4, one file per part. */
const interfaceRoutes: readonly Route[] = [
  ...routesOf({
    ...accountRoutes,
    ...apiKeyRoutes,
    ...notificationRoutes,
    ...webhookRoutes,
    ...offerRoutes,
    ...instanceRoutes,
    ...overlayRoutes,
    ...sshKeyRoutes,
    ...transferRoutes,
    ...machineRoutes,
    ...templateRoutes,
    ...workergroupRoutes,
  }),
  ...twoFactorRoutes,
]

/** All routes below /api/, those of one deployment first. */
export const routes: readonly Route[] = [...publicRoutes(interfaceRoutes), ...interfaceRoutes]
