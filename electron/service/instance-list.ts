import { type Fields, listAnswer, type ReadList, type UnreadRecord } from './http/answer.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'
import { type Instance, instanceShape } from './instance-record.ts'
import { ServiceError } from './service-error.ts'

/** Which of its two lists a deployment has: the interface's, or a newer one in pages that took its place. */
export type ListVersion = 'v0' | 'v1'

/** What was learnt of an account's deployment. Whoever keeps it over restarts spares the first poll a question. */
export interface InstanceListTraits {
  get(): ListVersion | undefined
  set(version: ListVersion): void
}

/** The instances of an account, as far as the service told them. */
export interface InstanceList {
  instances: Instance[]
  /** Records that could not be read: these instances are there, and nothing else is known of them. */
  unread: readonly UnreadRecord[]
  /** Why these may not be all, as the end of a sentence; undefined where the service's own counts agree. */
  cutShort: string | undefined
}

export interface ListOptions extends CallOptions {
  /** Finds out anew which list there is, whatever was learnt: what came last contradicts what is known. */
  anew?: boolean
}

type Answered = Fields & ReadList<'instances', Instance>

const v0: Operation<Answered> = {
  method: 'GET',
  path: '/api/v0/instances/',
  repeat: 'read',
  answer: listAnswer('instances', instanceShape, { allowNone: true }),
  size: 'list',
}

const v1: Operation<Answered> = { ...v0, path: '/api/v1/instances/' }

/** More is never asked for: a deployment may refuse it. */
const PAGE = 25
/** 10,000 instances. What goes on beyond that goes on for ever. */
const MOST_PAGES = 400

/**
 * Lists an account's instances in the way that its deployment has. Unknown, the newer list is asked for first, since
 * deployments that have it may answer the older one with an empty or a shortened list and 200; one that has only the
 * older is asked in vain once. When the list that was learnt is not there any more, the other is.
 * @throws ServiceError of the list that there is
 */
export async function listInstances(
  send: Send,
  traits: InstanceListTraits,
  { anew = false, ...options }: ListOptions = {},
): Promise<InstanceList> {
  const known = traits.get()
  const first = known === 'v0' && !anew ? 'v0' : 'v1'
  try {
    return await learning(first)
  } catch (error) {
    if (!mayBeAnotherList(error)) throw error
    const second = first === 'v0' ? 'v1' : 'v0'
    return await learning(second).catch((other: unknown) => {
      if (isRefused(other) && isNotThere(error)) traits.set(second)
      throw tellingMore(error, other)
    })
  }

  async function learning(version: ListVersion): Promise<InstanceList> {
    const list = version === 'v0' ? await wholeList(send, options) : await pagedList(send, options)
    if (traits.get() !== version) traits.set(version)
    return list
  }
}

async function wholeList(send: Send, options: CallOptions): Promise<InstanceList> {
  const { instances, unread, instances_found: found } = await send(v0, {}, options)
  return { instances, unread, cutShort: fewerThan(found, instances.length + unread.length) }
}

/** Follows the pages. What is met twice, since something went or came meanwhile, counts once. */
async function pagedList(send: Send, options: CallOptions): Promise<InstanceList> {
  const instances = new Map<number, Instance>()
  const unread: UnreadRecord[] = []
  const tokens = new Set<string>()
  const listOf = (cutShort: string | undefined) => ({ instances: [...instances.values()], unread, cutShort })
  let token: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { limit: String(PAGE), ...(token === undefined ? {} : { after_token: token }) }
    const answer = await send(v1, { query }, options)
    for (const instance of answer.instances) instances.set(instance.id, instance)
    unread.push(...answer.unread)
    const next = answer['next_token']
    if (typeof next !== 'string' || next === '')
      return listOf(fewerThan(answer['total_instances'], instances.size + unread.length))
    if (tokens.has(next)) return listOf('the service gave the same page again and again')
    tokens.add(next)
    token = next
  }
  return listOf(`the service had more than ${MOST_PAGES} pages`)
}

function fewerThan(promised: unknown, came: number): string | undefined {
  if (typeof promised !== 'number' || promised <= came) return undefined
  return `the service speaks of ${promised} instances and listed ${came}`
}

/** Whether the other list may be the one: not where the key was refused, or the service was not heard at all. */
function mayBeAnotherList(error: unknown): boolean {
  if (!(error instanceof ServiceError) || isRefused(error)) return false
  if (error.status === 429 || error.status >= 500 || error.status === 0) return false
  return error.code !== 'redirected'
}

function isRefused(error: unknown): boolean {
  return error instanceof ServiceError && error.keyRefused
}

/** Of two failures the one that says more than that there is no such list. */
function tellingMore(one: unknown, other: unknown): unknown {
  if (!isNotThere(other)) return other
  return isNotThere(one) && other instanceof ServiceError && other.code === 'deprecated' ? other : one
}

/** Whether the service says that there is no such list (any more). */
function isNotThere(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return [404, 405, 410].includes(error.status) || error.code === 'deprecated'
}
