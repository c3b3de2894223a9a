import type { ApiRequest } from '#simulator/http/route.ts'
import type { Layer } from './layer.ts'

/** Copies between instances, which may be named `C.123`. */
export const publicTransfers: Layer = {
  'PUT /commands/copy_direct/': (request, plain) => plain(plainIds(request)),
  'DELETE /commands/copy_direct/': (request, plain) => plain(plainIds(request)),
}

function plainIds(request: ApiRequest): ApiRequest {
  return {
    ...request,
    body: code => {
      const fields = request.body(code)
      const sides = Object.entries(fields.values).map(([name, value]) => [
        name,
        name.endsWith('_id') && typeof value === 'string' ? value.replace(/^C\./, '') : value,
      ])
      return fields.with(Object.fromEntries(sides))
    },
  }
}
