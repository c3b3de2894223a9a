import { invalidArgs, refusal } from '#simulator/errors.ts'
import type { Fields } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import { canPull } from '#simulator/world/instances/plan.ts'

/** Registries, which the service reads for its users: every image has the same few tags. */
export const registryRoutes: Layer = {
  'POST /templates/fetch-tags/': { version: 'v1', permission: 'user_read', answer: tags },
  'POST /templates/validate-auth/': { version: 'v1', permission: 'user_read', answer: login },
}

function tags({ body }: ApiRequest) {
  const fields = body()
  const image = fields.optionalString('image') ?? ''
  if (!/^[a-z0-9][a-z0-9._/-]*$/i.test(image)) throw invalidArgs('invalid image')
  const isIn = fields.has('token') && isTaken(fields)
  if (!canPull(image, isIn ? fields.string('server') : null))
    throw refusal(400, 'registry_error', 'The registry answered 401')
  return { success: true, tags: ['latest', '2.5', '2.4.1-cuda12.4'] }
}

function login({ body }: ApiRequest) {
  const fields = body()
  if (!isTaken(fields)) {
    const who = `${fields.string('username')}:${fields.string('token')}`
    throw refusal(400, 'auth_failed', `The registry refused ${who}`)
  }
  return { success: true, authenticated: true, repositories: [`${fields.string('username')}/image`] }
}

/** A token that begins with `wrong` is. */
function isTaken(fields: Fields): boolean {
  for (const name of ['server', 'username', 'token'])
    if ((fields.optionalString(name) ?? '') === '') throw invalidArgs(`invalid ${name}`)
  return !fields.string('token').startsWith('wrong')
}
