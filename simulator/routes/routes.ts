import { type Route, routesOf } from '../http/route.ts'
import { accountRoutes } from './account.ts'
import { hostingRoutes } from './hosting.ts'
import { instanceRoutes } from './instances.ts'
import { notificationRoutes } from './notifications.ts'
import { offerRoutes } from './offers.ts'
import { overlayRoutes } from './overlays.ts'
import { publicRoutes } from './public/routes.ts'
import { templateRoutes } from './templates.ts'
import { transferRoutes } from './transfers.ts'
import { twoFactorRoutes } from './two-factor.ts'

/** Section 4, one file per part. */
const interfaceRoutes: readonly Route[] = [
  ...routesOf({
    ...accountRoutes,
    ...notificationRoutes,
    ...offerRoutes,
    ...instanceRoutes,
    ...overlayRoutes,
    ...transferRoutes,
    ...hostingRoutes,
    ...templateRoutes,
  }),
  ...twoFactorRoutes,
]

/** All routes below /api/, those of one deployment first. */
export const routes: readonly Route[] = [...publicRoutes(interfaceRoutes), ...interfaceRoutes]
