import type { ApiRequest, Route } from '#simulator/http/route.ts'
import { cancelCopy, copy, copyPath } from '../transfers.ts'

/** Copies between instances, which may be named `C.123`. */
export const publicTransferRoutes: readonly Route[] = [
  {
    method: 'PUT',
    path: copyPath,
    only: 'public',
    permission: 'instance_write',
    answer: request => copy(plainIds(request)),
  },
  {
    method: 'DELETE',
    path: copyPath,
    only: 'public',
    permission: 'instance_write',
    answer: request => cancelCopy(plainIds(request)),
  },
]

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
