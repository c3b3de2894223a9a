import type { ServiceClient } from '../../service/client.ts'

/** The same client, which says beforehand which instance it is to stop or destroy, for whomever. */
export function tellingEnds(client: ServiceClient, tell: (instance: number) => void): ServiceClient {
  const { instances } = client
  const stop: typeof instances.stop = (id, options) => {
    tell(id)
    return instances.stop(id, options)
  }
  const destroy: typeof instances.destroy = (id, options) => {
    tell(id)
    return instances.destroy(id, options)
  }
  return { ...client, instances: { ...instances, stop, destroy } }
}
