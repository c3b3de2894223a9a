import * as v from 'valibot'
import type { RentRequest } from '../../../contract/market/rental.ts'
import type { Keychain } from '../../../ports/keychain.ts'

const Values = v.record(v.string(), v.string())

/** What of a request its secrets are in. */
type WithSecrets = Pick<RentRequest, 'env' | 'registry'>

/** Where the registry's token is kept among the variables: no variable has such a name. */
const registryToken = 'registry token'

/**
 * Secret values of the environment of a rental or a series of attempts, and its registry's token: in the keychain while
 * it is asked for, and never on disk.
 */
export interface RentalSecrets {
  keep(rental: string, request: WithSecrets): Promise<void>
  /** The request with its secret values put back (an attempt uses its series'); undefined when they are gone. */
  restore<Request extends WithSecrets>(
    of: { id: string; owner?: string },
    request: Request,
  ): Promise<Request | undefined>
  /** Those of an attempt stay with its series. */
  forget(rental: { id: string; owner?: string; request: WithSecrets }): Promise<void>
}

/** The keychain's entry of the secrets of a rental, a series of attempts or a watch. */
export function secretsEntry(owner: string): string {
  return `rental ${owner}`
}

export function rentalSecrets(keychain: Keychain): RentalSecrets {
  return {
    async keep(rental, request) {
      if (!hasSecrets(request)) return
      const { env, registry } = request
      const secret = env.filter(variable => variable.secret).map(({ name, value }) => [name, value])
      const token = registry ? [[registryToken, registry.token]] : []
      await keychain.set(secretsEntry(rental), JSON.stringify(Object.fromEntries([...secret, ...token])))
    },
    async restore({ id, owner }, request) {
      if (!hasSecrets(request)) return request
      const text = await keychain.get(secretsEntry(owner ?? id))
      const values = text === undefined ? undefined : v.parse(Values, JSON.parse(text))
      if (!values) return undefined
      const env = request.env.map(variable =>
        variable.secret ? { ...variable, value: values[variable.name] ?? '' } : variable,
      )
      return { ...request, env, ...withToken(request, values[registryToken] ?? '') }
    },
    async forget({ id, owner, request }) {
      if (owner === undefined && hasSecrets(request)) await keychain.delete(secretsEntry(id))
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

/** The request as it may be written down and shown again: without secret values. */
export function withoutSecrets<Request extends WithSecrets>(request: Request): Request {
  return {
    ...request,
    env: request.env.map(variable => (variable.secret ? { ...variable, value: '' } : variable)),
    ...withToken(request, ''),
  }
}
