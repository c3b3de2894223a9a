import * as Type from 'typebox'
import { plainAnswer } from './http/answer.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

const request: Operation<{ result_url: string }> = {
  method: 'PUT',
  path: '/api/v0/instances/request_logs/{id}/',
  repeat: 'read',
  answer: plainAnswer(Type.Object({ result_url: Type.String() })),
  extra: 'item',
}

/** Lines to request. */
const TAIL = 1000

/** The logs of containers (not in the interface, known from deployments). Every method throws ServiceError. */
export interface ContainerLogs {
  /**
   * Requests the end of an instance's log: the container's, or with `host` that of the daemon that pulls its image and
   * starts it. Gives the address where it will be available in some seconds: see `fetchResult`.
   */
  request(id: number, host: boolean, options?: CallOptions): Promise<string>
}

export function containerLogs(send: Send): ContainerLogs {
  return {
    request: async (id, host, options) => {
      const body = { tail: String(TAIL), daemon_logs: host ? 'true' : undefined }
      return (await send(request, { ids: { id }, body }, options)).result_url
    },
  }
}
