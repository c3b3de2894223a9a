import * as v from 'valibot'
import type { Keychain } from '#platform/platform.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'

const Values = v.record(v.string(), v.string())

/** The parts of a request that may contain secrets. */
type WithSecrets = Pick<RentRequest, 'env' | 'registry'>

/** The registry token's key among the variables; no variable can have this name. */
const registryToken = 'registry token'

/**
 * Secret values of a rental's environment, and its registry token: in the keychain until its instance exists or, with
 * retries, it has ended, and never on disk.
 */
export interface RequestSecrets {
  keep(rental: string, request: WithSecrets): Promise<void>
  /** The request with the secret values of a rental; undefined when they are gone. */
  restore<Request extends WithSecrets>(rental: string, request: Request): Promise<Request | undefined>
  forget(rental: { id: string; request: WithSecrets }): Promise<void>
}

/** The keychain entry for the secrets of a rental or a watch. */
export function secretsEntry(owner: string): string {
  return `rental ${owner}`
}

export function requestSecrets(keychain: Keychain): RequestSecrets {
  return {
    async keep(rental, request) {
      if (!hasSecrets(request)) return
      const { env, registry } = request
      const secret = env.filter(variable => variable.secret).map(({ name, value }) => [name, value])
      const token = registry ? [[registryToken, registry.token]] : []
      await keychain.set(secretsEntry(rental), JSON.stringify(Object.fromEntries([...secret, ...token])))
    },
    async restore(rental, request) {
      if (!hasSecrets(request)) return request
      const text = await keychain.get(secretsEntry(rental))
      const values = text === undefined ? undefined : v.parse(Values, JSON.parse(text))
      if (!values) return undefined
      const env = request.env.map(variable =>
        variable.secret ? { ...variable, value: values[variable.name] ?? '' } : variable,
      )
      return { ...request, env, ...withToken(request, values[registryToken] ?? '') }
    },
    async forget({ id, request }) {
      if (hasSecrets(request)) await keychain.delete(secretsEntry(id))
    },
  }
}

/** Whether a request has values that are kept in the keychain. */
export function hasSecrets({ env, registry }: WithSecrets): boolean {
  return registry !== undefined || env.some(variable => variable.secret)
}

function withToken({ registry }: WithSecrets, token: string): Pick<WithSecrets, 'registry'> {
  return registry ? { registry: { ...registry, token } } : {}
}

/** The request without secret values, for storing and showing it. */
export function withoutSecrets<Request extends WithSecrets>(request: Request): Request {
  return {
    ...request,
    env: request.env.map(variable => (variable.secret ? { ...variable, value: '' } : variable)),
    ...withToken(request, ''),
  }
}
