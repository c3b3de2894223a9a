import { refusal } from '#simulator/errors.ts'
import type { Fields } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'

/** The account's environment variables. Every answer masks their values. */
export const environmentRoutes: Layer = {
  'GET /secrets/': { permission: 'user_read', answer: list },
  'POST /secrets/': { permission: 'user_write', answer: add },
  'PUT /secrets/': {
    permission: 'user_write',
    answer: ({ world, body }) => {
      const { name, value } = readPair(body())
      world.environment.change(name, value)
      return { success: true, msg: 'Environment variable updated successfully' }
    },
  },
  'DELETE /secrets/': {
    permission: 'user_write',
    answer: ({ world, body }) => {
      world.environment.remove(body().optionalString('key') ?? '')
      return { success: true, msg: 'Environment variable deleted successfully' }
    },
  },
}

function list({ world }: ApiRequest) {
  const names = [...world.environment.all().keys()]
  return { success: true, secrets: Object.fromEntries(names.map(name => [name, '********'])) }
}

/** One variable, or several as `env_vars`. */
function add({ world, body }: ApiRequest) {
  const fields = body()
  const many = fields.has('env_vars') ? fields.array('env_vars') : [fields.values]
  const pairs = many.map(each => readPair(fields.with(each as Record<string, unknown>)))
  for (const { name, value } of pairs) world.environment.add(name, value)
  return { success: true, msg: 'Environment variables processed successfully' }
}

function readPair(fields: Fields): { name: string; value: string } {
  const name = fields.optionalString('key')
  const value = fields.optionalString('value')
  if (name === undefined || value === undefined) {
    throw refusal(400, 'missing_input', "Both 'key' and 'value' are required.")
  }
  return { name, value }
}
