import type { Profile } from '../deployment.ts'
import type { Fields } from '../fields.ts'
import type { Results } from '../results.ts'
import type { Caller, LimitedCall, Permission } from '../world/api-keys.ts'
import type { World } from '../world/world.ts'

/** A request as a route sees it: authenticated, within its limits and permissions. */
export interface ApiRequest {
  world: World
  caller: Caller
  /** How the deployment in force answers. */
  profile: Profile
  /** Publishes texts that are fetched without a key. */
  results: Results
  /** A path parameter that must be an integer; else 400 `invalid_args`. */
  id(name: string): number
  query: URLSearchParams
  /** The body's fields. 400 with the given code (else `invalid_args`; null for none) when it is no JSON object. */
  body(code?: string | null): Fields
  /** Whether there is a body: without one, `body` has no fields. */
  hasBody: boolean
  /** Headers of the answer, for what a body cannot carry (a session's cookie). */
  headers: Headers
}

/** What a route answers with status 200, as JSON; other statuses are thrown as ServiceError. */
export type Answer = object | string | number

/** One row of section 4: a method and path, who may call it, how often, and what it answers. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api/v0, with `:name` for path parameters; served with and without the trailing slash. */
  path: string
  /** Below /api/v1 instead. */
  version?: 'v1'
  /** Only this deployment has the route; it replaces the one of the same method and path without `only`. */
  only?: 'public'
  /** The permission that a scoped key needs. */
  permission: Permission
  /** Its name in a key's permissions, where they can be limited to it. */
  call?: LimitedCall
  /** Requests a second for one key, section 8. Without it the endpoint has no limit. */
  threshold?: number
  /** Open to the key inside an instance; the route itself checks which instance. */
  instanceKey?: true
  /** Answers 400 instead of 401 to a key that was not sent as a bearer token. */
  bearerOnly?: true
  /** On the public deployment: answers 401 with `detail`, instead of 403, to a request without a key. */
  withoutKey?: 'detail'
  /** Open without a bearer token (two-factor login with a `tfa_secret`). */
  anonymous?: true
  /** The code of the 403 for a request without a valid key; without it, 401 with no code. */
  authCode?: string
  answer(request: ApiRequest): Answer | Promise<Answer>
}

/** Routes by method and path. */
export type Routes = Readonly<Record<`${Route['method']} /${string}`, Omit<Route, 'method' | 'path'>>>

export function routesOf(routes: Routes): Route[] {
  return Object.entries(routes).map(([name, rest]) => {
    const [method, path = ''] = name.split(' ')
    return { method: method as Route['method'], path, ...rest }
  })
}

/** A route as limits know it: `GET v0/instances/:id/`. */
export function routeName({ method, version, path }: Route): string {
  return `${method} ${version ?? 'v0'}${path}`
}

/**
 * A deployment's routes by method and path: those beyond the interface, and functions that answer in place of the
 * interface, whose own answer is `plain`.
 */
export type Layer = Readonly<Record<`${Route['method']} /${string}`, Routes[keyof Routes] | LayerAnswer>>
type LayerAnswer = (request: ApiRequest, plain: Route['answer']) => ReturnType<Route['answer']>

/**
 * The routes of a layer over others. Its own come first, since `/instances/:id/` would take `/instances/filters/`. Throws
 * for an answer in place of a missing route.
 */
export function layered(routes: readonly Route[], layer: Layer): Route[] {
  const beneath = new Map(routes.map(route => [`${route.method} ${route.path}`, route]))
  const all = Object.entries(layer).map(([name, entry]): [string, Routes[keyof Routes]] => {
    if (typeof entry !== 'function') return [name, entry]
    const plain = beneath.get(name)
    if (!plain) throw new Error(`The interface has no ${name}.`)
    return [name, { ...plain, answer: request => entry(request, plain.answer) }]
  })
  const isOwn = ([name]: [string, unknown]) => !beneath.has(name)
  return routesOf(Object.fromEntries([...all.filter(isOwn), ...all.filter(entry => !isOwn(entry))]))
}
