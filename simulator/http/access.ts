import type { Profile } from '../deployment.ts'
import { refusal, ServiceError } from '../errors.ts'
import { allowsCall, type Caller } from '../world/api-keys.ts'
import type { World } from '../world/world.ts'
import type { Route } from './route.ts'

/**
 * Finds the caller of a request. Without a key, or with an unknown one, throws 401 (403 where the route has a code for
 * it; otherwise as the profile says). Throws 400 without a code where a route requires a bearer token and got something
 * else.
 */
export function authenticate(
  world: World,
  route: Route,
  { badkey }: Profile,
  authorization: string | undefined,
): Caller {
  if (authorization === undefined) {
    if (route.anonymous) return { kind: 'anonymous' }
    if (badkey !== 'plain') throw loginRequired(route)
    throw unauthorized(route, 'This request needs an API key as a bearer token.')
  }
  const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
  if (key === undefined && route.bearerOnly) throw noBearerToken()
  const caller = key === undefined ? undefined : world.caller(key)
  if (!caller && badkey !== 'plain') throw refusal(Number(badkey), 'auth_error', 'Invalid user key')
  if (!caller) throw unauthorized(route, 'This API key is not valid.')
  return caller
}

/** Throws 403 for a key whose permissions do not cover the route with these parameters. */
export function authorize(
  caller: Caller,
  route: Route,
  parameters: () => Readonly<Record<string, unknown>>,
): void {
  if (caller.kind === 'scoped' && !allowsCall(caller, route, parameters())) {
    throw forbidden(`This key lacks the permission ${route.permission}.`)
  }
  if (caller.kind === 'instance' && !route.instanceKey) {
    throw forbidden('The key of an instance can only start, stop or destroy that instance.')
  }
}

/** 403 for a key that may not do this. */
export function forbidden(msg: string): ServiceError {
  return refusal(403, 'forbidden', msg)
}

/** The refusal of a request without a key, where it depends on the resource. */
function loginRequired({ bearerOnly, withoutKey }: Route): ServiceError {
  if (bearerOnly) return noBearerToken()
  if (withoutKey === 'detail') {
    return new ServiceError(401, { detail: 'Authentication credentials were not provided.' })
  }
  return refusal(403, 'auth_error', 'This action requires login.')
}

function noBearerToken(): ServiceError {
  return refusal(400, null, 'The API key must be given as a bearer token.')
}

function unauthorized({ authCode }: Route, msg: string): ServiceError {
  return authCode === undefined ? refusal(401, null, msg) : refusal(403, authCode, msg)
}
