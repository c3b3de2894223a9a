import * as Type from 'typebox'
import { plainAnswer } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'
import { ServiceError } from './service-error.ts'

/** A login to a registry. The token is a secret. */
interface RegistryAccess {
  server: string
  user: string
  token: string
}

const fetchTags = operation(
  'POST',
  '/api/v1/templates/fetch-tags',
  'read',
  plainAnswer(Type.Object({ tags: Type.Array(Type.String()) })),
  { size: 'list', extra: 'collection' },
)

const validate = operation(
  'POST',
  '/api/v1/templates/validate-auth',
  'read',
  plainAnswer(Type.Object({ authenticated: Type.Boolean() })),
  { size: 'list', extra: 'collection' },
)

const sent = ({ server, user: username, token }: RegistryAccess) => ({ server, username, token })

/** Images, as the service reads them from their registries (known from deployments). Throws ServiceError. */
export function registries(send: Send) {
  return {
    /** The tags of an image without one. `refused` where it has none or the registry fails; 1 request in 2 seconds. */
    tags: async (image: string, login?: RegistryAccess, options?: CallOptions) =>
      (await send(fetchTags, { body: { image, ...(login && sent(login)) } }, options)).tags,
    /** Whether the registry takes the login. 1 request in 2 seconds. */
    takes: async (login: RegistryAccess, options?: CallOptions) => {
      try {
        return (await send(validate, { body: sent(login) }, options)).authenticated
      } catch (error) {
        // Everything else says nothing about the login.
        const isRefused = error instanceof ServiceError && error.detail?.startsWith('auth_failed')
        if (isRefused) return false
        throw error
      }
    },
  }
}
