import * as v from 'valibot'
import { goTo, type Store } from '#core/storage/store.ts'
import { AccountId, InstanceId } from '#shared/ids.ts'
import { SavedQuery } from '#shared/market/offer-query.ts'
import { defaultDisk } from '#shared/market/rental-defaults.ts'
import type { Problem } from '#shared/problem.ts'
import { ProjectId } from '#shared/project/project.ts'
import type { Place, State } from '#shared/state.ts'

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
  const filter = v.safeParse(
    v.optional(
      v.pipe(
        v.strictTuple([AccountId]),
        v.transform(([id]) => id),
      ),
    ),
    account,
  )
  const place = query && placeOf(host, path, rest)
  if (!filter.success || place === undefined) return undefined
  return { to: 'place', place, account: filter.output }
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
    query: { type: type ?? 'on-demand', verifiedOnly: true, storage: disk ?? defaultDisk, limit: 10_000 },
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

/** Opens the place of an external link, or explains why it has none. It only navigates; the user confirms the rest. */
export function followLink(store: Store, text: string, say: (title: string, body: string) => void): void {
  const link = parseLink(text)
  const target = link ? linkTarget(link, store.get()) : { problem: notALink }
  if (!('problem' in target)) {
    goTo(store, target.account, target.place)
    return
  }
  const { message, advice } = target.problem
  const body = advice === undefined ? message : `${message} ${advice}`
  // The link's own words are not shown, since its author chose them.
  say('Berth doesn’t know this link', body)
}

const notALink = {
  code: 'bad_link',
  message: 'It may be from a newer version.',
  advice: 'A link to an instance looks like berth://instance/4711.',
}

/** A link's place and the account to show, or why it has none here. */
type LinkTarget = { account: AccountId | undefined; place: Place } | { problem: Problem }

export function linkTarget(link: Link, state: Pick<State, 'accounts' | 'shown' | 'projects'>): LinkTarget {
  const { accounts, shown } = state
  if (link.to === 'demo') {
    if ('demo' in accounts) return { account: 'demo', place: { screen: 'instances' } }
    return { problem: noDemo }
  }
  const { place, account } = link
  if (account !== undefined && !Object.hasOwn(accounts, account)) return { problem: noSuchAccount }
  if (
    place.screen === 'projects' &&
    place.project !== undefined &&
    !Object.hasOwn(state.projects, place.project)
  )
    return { problem: noSuchProject }
  if (place.screen !== 'instances' || place.instance === undefined)
    return { account: account ?? shown, place }
  const { instance } = place
  const candidates = account === undefined ? [shown ?? '', ...Object.keys(accounts)] : [account]
  const having = candidates.find(id => accounts[id]?.instances[instance] !== undefined)
  return having === undefined ? { problem: noSuchInstance(instance) } : { account: having, place }
}

const noDemo: Problem = {
  code: 'no_demo',
  message: 'The demo is not running.',
  advice: 'Start Berth with --demo to have it next to your accounts.',
}

const noSuchAccount: Problem = {
  code: 'no_such_account',
  message: 'This link is for an account that isn’t connected here.',
}

const noSuchProject: Problem = {
  code: 'no_such_project',
  message: 'This link is for a project that isn’t in your list.',
  advice: 'Add its folder in Projects.',
}

function noSuchInstance(instance: number): Problem {
  return {
    code: 'no_such_instance',
    message: `Instance #${instance} isn’t on any of your accounts.`,
    advice: 'It may have been destroyed, or its account isn’t connected.',
  }
}
