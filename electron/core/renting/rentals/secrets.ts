import * as v from 'valibot'
import type { RentRequest } from '../../../contract/market/rental.ts'
import type { Keychain } from '../../../ports/keychain.ts'

const Values = v.record(v.string(), v.string())

/** What of a request its secrets are in. */
type WithEnv = Pick<RentRequest, 'env'>

/** Secret values of a rental's or a failover's environment: in the keychain while it is asked for, and never on disk. */
export interface RentalSecrets {
  keep(rental: string, request: WithEnv): Promise<void>
  /** A try has those of its failover. The request with its values again; undefined when they are gone. */
  restore<Request extends WithEnv>(
    of: { id: string; owner?: string },
    request: Request,
  ): Promise<Request | undefined>
  /** Those of a try stay with its failover. */
  forget(rental: { id: string; owner?: string; request: WithEnv }): Promise<void>
}

/** The keychain's entry of the secrets of a rental, a failover or a watch. */
export function secretsEntry(owner: string): string {
  return `rental ${owner}`
}

export function rentalSecrets(keychain: Keychain): RentalSecrets {
  return {
    async keep(rental, request) {
      const secret = request.env.filter(variable => variable.secret)
      if (secret.length === 0) return
      await keychain.set(
        secretsEntry(rental),
        JSON.stringify(Object.fromEntries(secret.map(({ name, value }) => [name, value]))),
      )
    },
    async restore({ id, owner }, request) {
      if (!request.env.some(variable => variable.secret)) return request
      const text = await keychain.get(secretsEntry(owner ?? id))
      const values = text === undefined ? undefined : v.parse(Values, JSON.parse(text))
      if (!values) return undefined
      const env = request.env.map(variable =>
        variable.secret ? { ...variable, value: values[variable.name] ?? '' } : variable,
      )
      return { ...request, env }
    },
    async forget({ id, owner, request }) {
      if (owner === undefined && request.env.some(variable => variable.secret))
        await keychain.delete(secretsEntry(id))
    },
  }
}

/** The request as it may be written down and shown again: without secret values. */
export function withoutSecrets<Request extends WithEnv>(request: Request): Request {
  return {
    ...request,
    env: request.env.map(variable => (variable.secret ? { ...variable, value: '' } : variable)),
  }
}
