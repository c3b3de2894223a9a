import * as v from 'valibot'
import { AccountId, InstanceId } from '#contract/ids.ts'
import { SavedQuery } from '#contract/market/offer.ts'
import { ProjectId } from '#contract/project/project.ts'
import type { Place } from '#contract/state.ts'

/** The target of a `berth://` link. Without an account, the one that has the instance, or else the shown one. */
export type Link = { to: 'demo' } | { to: 'place'; place: Place; account?: AccountId }

/** Characters; longer links are refused. */
const longest = 1024

/**
 * Parses an external link, which anyone may have written: `berth://instance/4711`, `berth://instance/4711/terminal`,
 * `berth://offers?gpu=H100&max=2.5`, `berth://run?project=p…`, `berth://activity`, `berth://settings`,
 * `berth://account`, `berth://demo`, all but the last with an optional `account=`. Undefined for anything else.
 */
export function parseLink(text: string): Link | undefined {
  if (text.length > longest || !/^berth:\/\/[\x21-\x7e]+$/i.test(text) || !URL.canParse(text))
    return undefined
  const { protocol, username, password, host, pathname, searchParams, hash } = new URL(text)
  if (protocol !== 'berth:' || username !== '' || password !== '' || hash !== '') return undefined
  const path = pathname.replace(/\/$/, '')
  if (host === 'demo') return path === '' && searchParams.size === 0 ? { to: 'demo' } : undefined

  const query = grouped(searchParams)
  const { account, ...rest } = query ?? {}
  const known = v.safeParse(
    v.optional(
      v.pipe(
        v.strictTuple([AccountId]),
        v.transform(([id]) => id),
      ),
    ),
    account,
  )
  const place = query && placeOf(host, path, rest)
  if (!known.success || place === undefined) return undefined
  return { to: 'place', place, account: known.output }
}

type Query = Record<string, string[]>

/** All values by name; undefined where a name is not allowed in a link. */
function grouped(params: URLSearchParams): Query | undefined {
  const query: Query = {}
  for (const [name, value] of params) {
    if (!/^[a-z]{1,16}$/.test(name) || name in Object.prototype) return undefined
    query[name] = [...(query[name] ?? []), value]
  }
  return query
}

function placeOf(host: string, path: string, query: Query): Place | undefined {
  const plain = path === '' && Object.keys(query).length === 0
  switch (host) {
    case 'instance':
      return Object.keys(query).length === 0 ? instancePlace(path) : undefined
    case 'offers':
      return path === '' ? offersPlace(query) : undefined
    case 'run':
      return path === '' ? runPlace(query) : undefined
    case 'activity':
    case 'settings':
    case 'account':
      return plain ? { screen: host } : undefined
    default:
      return undefined
  }
}

/** A terminal connects and may attach a key, so a link only asks for it. */
function instancePlace(path: string): Place | undefined {
  const [, digits, part] = /^\/([1-9]\d{0,15})(\/terminal)?$/.exec(path) ?? []
  const instance = v.safeParse(InstanceId, Number(digits))
  if (!instance.success) return undefined
  return { screen: 'instances', instance: instance.output, ask: part ? ('terminal' as const) : undefined }
}

/** The place that shows a project's run and its cost, and asks. */
function runPlace(query: Query): Place | undefined {
  const read = v.safeParse(v.strictObject({ project: v.strictTuple([ProjectId]) }), query)
  return read.success ? { screen: 'projects', project: read.output.project[0], ask: 'run' } : undefined
}

const number = v.pipe(v.string(), v.regex(/^\d{1,7}(\.\d{1,4})?$/), v.transform(Number))
const one = <Schema extends v.GenericSchema<string, unknown>>(schema: Schema) =>
  v.optional(
    v.pipe(
      v.strictTuple([schema]),
      v.transform(([value]) => value),
    ),
  )

/** `max` in dollars per hour, `memory` in GB per GPU, `disk` in GB. */
const OffersQuery = v.strictObject({
  gpu: v.optional(v.array(v.string())),
  region: v.optional(v.array(v.string())),
  count: one(number),
  max: one(number),
  memory: one(number),
  disk: one(number),
  type: one(v.picklist(['on-demand', 'bid'])),
})

function offersPlace(query: Query): Place | undefined {
  if (Object.keys(query).length === 0) return { screen: 'offers' }
  const read = v.safeParse(OffersQuery, query)
  if (!read.success) return undefined
  const { gpu, region, count, max, memory, disk, type } = read.output
  const search = v.safeParse(SavedQuery, {
    query: { type: type ?? 'on-demand', verifiedOnly: true, storage: disk ?? 20, limit: 10_000 },
    filter: {
      gpus: gpu,
      regions: region,
      countFrom: count,
      countTo: count,
      priceTo: max,
      memoryFrom: memory,
    },
  })
  return search.success ? { screen: 'offers', search: search.output } : undefined
}
