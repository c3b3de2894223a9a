import type { CloudConnectionView } from '#contract/account/transfer.ts'
import type { ServiceClient } from '#service/client.ts'
import { ServiceError } from '#service/service-error.ts'
import { needingPermission } from '../app/permission.ts'
import { cleanLine } from '../instances/instance-view.ts'

/** The account's cloud connections; none where the service does not list them. */
export async function cloudConnections({
  transfers,
}: Pick<ServiceClient, 'transfers'>): Promise<CloudConnectionView[]> {
  try {
    const listed = await needingPermission('user_read', transfers.connections())
    return listed.map(({ id, name, cloud_type }) => ({
      id: String(id),
      name: cleanLine(name),
      provider: cleanLine(cloud_type),
    }))
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_supported') return []
    throw error
  }
}
