import { ServiceError } from './service-error.ts'

/** Whether the service has no such list, or keeps it from this key, rather than failing just now. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code !== 'bad_answer' &&
    [200, 400, 403, 404, 405, 410, 501].includes(error.status)
  )
}
