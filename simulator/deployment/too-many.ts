import { refusal, ServiceError, TextError } from '../errors.ts'
import type { Profile } from './profile.ts'

const WORDS = 'API requests too frequent'

/** The 429 of an endpoint, in the form that a deployment gives it. */
export function tooMany(form: Profile['refusal'], threshold: number): ServiceError {
  const number = `endpoint threshold=${threshold.toFixed(1)}`
  switch (form) {
    case 'detail':
      return new ServiceError(429, { detail: `${WORDS}: ${number}` })
    case 'msg':
      return refusal(429, 'rate_limit_exceeded', `${WORDS} ${number}`)
    case 'text':
      return new TextError(429, 'text/plain', WORDS)
    case 'text-threshold':
      return new TextError(429, 'text/plain', `${WORDS}: ${number}`)
    case 'html':
      return new TextError(
        429,
        'text/html',
        '<html><head><title>429 Too Many Requests</title></head><body><h1>429 Too Many Requests</h1></body></html>',
      )
  }
}
