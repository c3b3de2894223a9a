import { ServiceError } from '../../../../electron/service/service-error.ts'

/** The answer never came: nobody knows whether it took effect. */
export function lost(): ServiceError {
  return new ServiceError({
    code: 'connection_lost',
    status: 0,
    message: 'lost',
    advice: '',
    ambiguous: true,
  })
}

/** A plain refusal: it had no effect. */
export function refused(status: 400 | 401 | 404 | 429): ServiceError {
  const codes = { 400: 'invalid_args', 401: 'unauthorized', 404: 'refused', 429: 'rate_limited' } as const
  return new ServiceError({ code: codes[status], status, message: `${status}`, advice: '' })
}
