import * as Type from 'typebox'
import { looseConfirmation, plainAnswer } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'

/** By name; most deployments mask the values, and what they send is read no further. */
const variablesAnswer = plainAnswer(
  Type.Object({ secrets: Type.Record(Type.String(), Type.Unknown(), { maxProperties: 1024 }) }),
)

const list = operation('GET', '/api/v0/secrets/', 'read', variablesAnswer, {
  size: 'list',
  extra: 'collection',
})

const add = operation('POST', '/api/v0/secrets/', 'never', looseConfirmation, { extra: 'collection' })

const change: Operation<unknown> = { ...add, method: 'PUT', repeat: 'harmless', extra: 'item' }

const remove: Operation<unknown> = { ...change, method: 'DELETE' }

const isName = (name: string) => /^[A-Za-z_]\w{0,255}$/.test(name)

/**
 * The account's environment variables, which every new container gets (known from deployments; `not_supported`
 * elsewhere). No answer gives a value. Every method throws ServiceError.
 */
export function environment(send: Send) {
  return {
    /** Their names, sorted. 1 request in 5 seconds. */
    names: async (options?: CallOptions) => {
      const { secrets } = await send(list, {}, options)
      return Object.keys(secrets).filter(isName).sort()
    },
    /** Deployments store the name in capitals, and refuse one that is there. */
    add: async (name: string, value: string, options?: CallOptions) => {
      await send(add, { body: { key: name, value } }, options)
    },
    /** Refused where there is none of that name. */
    change: async (name: string, value: string, options?: CallOptions) => {
      await send(change, { body: { key: name, value } }, options)
    },
    /** Refused where there is none of that name. */
    remove: async (name: string, options?: CallOptions) => {
      await send(remove, { body: { key: name } }, options)
    },
  }
}
