import type { HttpAnswer, UnreadRecord } from './answer.ts'
import type { answerBounds } from './bounded-answer.ts'

/** One row of section 4, for the transport. */
export interface Operation<T> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to the base URL, with `{name}` for ids. It also names the endpoint for pacing. */
  path: `/api/${'v0' | 'v1'}/${string}`
  /**
   * The effect of a repeated request: `read` changes nothing; `harmless` has the same result as one; `never` must not
   * be sent again, whatever happened to the first.
   */
  repeat: 'read' | 'harmless' | 'never'
  /** The shape of a 2xx answer. */
  answer: HttpAnswer<T>
  /**
   * Whether a body shows that the request took effect, in spite of `success: false` or an error status beside it.
   * Without it, both are refusals.
   */
  tookEffect?: (body: unknown) => boolean
  /** The bound on the size of its answer; `single` if absent. */
  size?: keyof typeof answerBounds
  /**
   * Not in the interface, but known from deployments: a 404 or 405 means that this service does not have it. For an
   * `item`, a 404 with an error code means instead that the item is gone.
   */
  extra?: 'collection' | 'item'
}

/** An operation, with the type of its answer taken from the answer's shape. */
export function operation<T>(
  method: Operation<T>['method'],
  path: Operation<T>['path'],
  repeat: Operation<T>['repeat'],
  answer: HttpAnswer<T>,
  more: Pick<Operation<T>, 'tookEffect' | 'size' | 'extra'> = {},
): Operation<T> {
  return { method, path, repeat, answer, ...more }
}

/** The content of a request. */
export interface Input {
  /** Values for `{name}` in the path. */
  ids?: Record<string, number>
  /** Sent as JSON; fields that are undefined are left out. */
  body?: object
  query?: Record<string, string>
  /** False sends no bearer key, for the login path of section 4.7. */
  bearer?: boolean
}

/** The last parameter of every method of the client. */
export interface CallOptions {
  /** Cancels the call, queued or sent: `aborted`. */
  signal?: AbortSignal
  /** Cancels the call while it waits to be sent or repeated: `aborted`. A call that was sent is read to its end. */
  withdrawn?: AbortSignal
  /** Milliseconds from sending to the whole answer, for each attempt, without the wait for a turn. Default: 20,000. */
  timeout?: number
  /** The most repeats of a repeatable operation. Default: 3. */
  retries?: number
  /** Called with the unreadable records of a list, even if there are none. */
  onUnread?: (unread: readonly UnreadRecord[]) => void
}

/** Sends one operation. @throws ServiceError */
export type Send = <T>(operation: Operation<T>, input: Input, options?: CallOptions) => Promise<T>
