import type { Answer, UnreadRecord } from './answer.ts'
import type { answerBounds } from './bounded-answer.ts'

/** One row of section 4, as the transport needs to know it. */
export interface Operation<T> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  // interface 9: Every path has the prefix `/api/v0/`
  /** Below the base URL, with `{name}` where an id goes: also the name of the endpoint for pacing. */
  path: `/api/${'v0' | 'v1'}/${string}`
  /**
   * What a second request with the same content does: `read` changes nothing; `harmless` leads to the same end as
   * one; `never` means that it must not be sent again, whatever happened to the first.
   */
  repeat: 'read' | 'harmless' | 'never'
  /** The answer of a 2xx, checked. */
  answer: Answer<T>
  /** The bound on the size of its answer; `single` if absent. */
  size?: keyof typeof answerBounds
  /**
   * Not in the interface, but known from deployments: a 404 or 405 means that this service does not have it. On an
   * `item`, a 404 that names an error code means that the item is gone instead.
   */
  extra?: 'collection' | 'item'
}

/** What goes into one request. */
export interface Input {
  /** Values for the `{name}`s of the path. */
  ids?: Record<string, number>
  /** Sent as JSON; fields that are undefined are left out. */
  body?: object
  query?: Record<string, string>
  /** False leaves the bearer key out: the login path of section 4.7. */
  bearer?: boolean
}

/** What every method of the client takes last. */
export interface CallOptions {
  /** Cancels the call, queued or on its way: `aborted`. */
  signal?: AbortSignal
  /** Milliseconds from sending to the whole answer, for each attempt; waiting for a turn does not count. Default: 20,000. */
  timeout?: number
  /** How often a call that may be repeated is repeated. Default: 3. */
  retries?: number
  /** Called with the records of a list that could not be read, also when there are none. */
  onUnread?: (unread: readonly UnreadRecord[]) => void
}

/** Sends one operation. @throws ServiceError */
export type Send = <T>(operation: Operation<T>, input: Input, options?: CallOptions) => Promise<T>
