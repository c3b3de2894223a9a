import { type DialectMemory, type ListVersion, learn, learnFromRecords } from './dialect.ts'
import { type Fields, listAnswer, type ReadList, type UnreadRecord } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'
import { type Instance, instanceShape } from './instance-record.ts'
import { ServiceError } from './service-error.ts'

/** The instances of an account, as far as the service listed them. */
export interface InstanceList {
  instances: Instance[]
  /** Unreadable records: these instances exist, and nothing else is known of them. */
  unread: readonly UnreadRecord[]
  /** Why there may be more, as the end of a sentence; undefined if the service's own count agrees. */
  cutShort: string | undefined
  /** Whether the service says how many there are, and listed as many. */
  counted?: boolean
}

export interface ListOptions extends CallOptions {
  /** Detects the version again, since the last list contradicts what Berth knows. */
  anew?: boolean
  /** Called after each page but the last with all that came so far. */
  onPart?: (list: InstanceList) => void
}

type Answered = Fields & ReadList<'instances', Instance>

const v0 = operation(
  'GET',
  '/api/v0/instances/',
  'read',
  listAnswer('instances', instanceShape, { allowNone: true }),
  { size: 'list' },
)

const v1: Operation<Answered> = { ...v0, path: '/api/v1/instances/' }

/** Instances per page: deployments may refuse more. */
const PAGE = 25
/** In case the pages never end: instances, pages, and pages in a row without a new instance. */
const MOST = { instances: 2000, pages: 80, idle: 2 }

/**
 * Lists an account's instances by its deployment's version. If that is unknown, the newer list is tried first, since
 * deployments that have it may answer the older one with an empty or shortened list and 200. If the known list is
 * gone, the other one is tried. @throws ServiceError of the list that exists
 */
export async function listInstances(
  send: Send,
  memory: DialectMemory,
  { anew = false, onPart, ...options }: ListOptions = {},
): Promise<InstanceList> {
  const known = memory.get().list
  const first = known === 'v0' && !anew ? 'v0' : 'v1'
  try {
    return await learning(first)
  } catch (error) {
    if (!mayBeAnotherList(error)) throw error
    const second = first === 'v0' ? 'v1' : 'v0'
    return await learning(second).catch((other: unknown) => {
      if (isRefused(other) && isNotThere(error)) learn(memory, { list: second })
      throw tellingMore(error, other)
    })
  }

  async function learning(version: ListVersion): Promise<InstanceList> {
    const list = version === 'v0' ? await wholeList(send, options) : await pagedList(send, options, shown)
    learn(memory, { list: version })
    learnFromRecords(memory, list.instances)
    return list
  }

  function shown(part: InstanceList): void {
    learnFromRecords(memory, part.instances)
    onPart?.(part)
  }
}

async function wholeList(send: Send, options: CallOptions): Promise<InstanceList> {
  const { instances, unread, instances_found: found } = await send(v0, {}, options)
  return { instances, unread, ...comparedWith(found, instances.length + unread.length) }
}

/** Follows the pages. An instance on two pages, after a change in between, counts once. */
async function pagedList(
  send: Send,
  options: CallOptions,
  onPart?: ListOptions['onPart'],
): Promise<InstanceList> {
  const instances = new Map<number, Instance>()
  const unread: UnreadRecord[] = []
  const tokens = new Set<string>()
  const listOf = (end: Pick<InstanceList, 'cutShort' | 'counted'>) => ({
    instances: [...instances.values()],
    unread,
    ...end,
  })
  let token: string | undefined
  /** The ids so far; undefined for records without one. */
  const met = new Set<number | undefined>()
  let idle = 0
  for (let page = 0; page < MOST.pages; page++) {
    const before = met.size
    const query = { limit: String(PAGE), ...(token === undefined ? {} : { after_token: token }) }
    const answer = await send(v1, { query }, options)
    for (const instance of answer.instances) instances.set(instance.id, instance)
    unread.push(...answer.unread)
    for (const { id } of [...answer.instances, ...answer.unread]) met.add(id)
    const next = answer['next_token']
    if (typeof next !== 'string' || next === '')
      return listOf(comparedWith(answer['total_instances'], instances.size + unread.length))
    if (tokens.has(next)) return listOf({ cutShort: 'the service gave the same page again and again' })
    tokens.add(next)
    token = next
    const came = instances.size + unread.length
    idle = met.size > before ? 0 : idle + 1
    if (idle >= MOST.idle) return listOf({ cutShort: 'the service gave page after page with nothing new' })
    if (came >= MOST.instances)
      return listOf({ cutShort: `the service had more pages after ${came} instances` })
    onPart?.(listOf({ cutShort: 'more pages follow' }))
  }
  return listOf({ cutShort: `the service had more than ${MOST.pages} pages` })
}

/** Compares the service's own count with the list's. */
function comparedWith(promised: unknown, came: number): Pick<InstanceList, 'cutShort' | 'counted'> {
  if (typeof promised !== 'number' || promised <= came)
    return { cutShort: undefined, counted: promised === came }
  return { cutShort: `the service speaks of ${promised} instances and listed ${came}` }
}

/** Whether the other list may exist: not if the key was refused, or the service did not answer properly. */
function mayBeAnotherList(error: unknown): boolean {
  if (!(error instanceof ServiceError) || isRefused(error)) return false
  if (error.status === 429 || error.status >= 500 || error.status === 0) return false
  return error.code !== 'redirected'
}

function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && error.keyRefused
}

/** The more informative of two errors: not the one that only says that a list does not exist. */
function tellingMore(one: unknown, other: unknown): unknown {
  if (!isNotThere(other)) return other
  return isNotThere(one) && other instanceof ServiceError && other.code === 'deprecated' ? other : one
}

/** Whether the service says that the list does not exist (any more). */
function isNotThere(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return [404, 405, 410].includes(error.status) || error.code === 'deprecated'
}
