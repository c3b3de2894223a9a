/**
 * An answer other than 200, with its body as section 7 of the interface shapes it. Thrown by the world and
 * by routes, turned into the HTTP answer in one place (http/app.ts).
 */
export class ServiceError extends Error {
  readonly status: number
  readonly body: Record<string, unknown>

  constructor(status: number, body: Record<string, unknown>) {
    super(String(body['msg'] ?? body['detail'] ?? status))
    this.name = 'ServiceError'
    this.status = status
    this.body = body
  }
}

/** An answer other than 200 whose body is no JSON. */
export class TextError extends ServiceError {
  readonly type: string
  readonly text: string

  constructor(status: number, type: string, text: string) {
    super(status, { msg: text })
    this.type = type
    this.text = text
  }
}

/** The common shape: `{success: false, error, msg}`. Without a code (401 has none) `error` is left out. */
export function refusal(
  status: number,
  code: string | null,
  msg: string,
  extra: Record<string, unknown> = {},
) {
  return new ServiceError(status, {
    success: false,
    ...(code === null ? {} : { error: code }),
    msg,
    ...extra,
  })
}

/** 400 `invalid_args`: an argument is missing, of the wrong type or out of range. */
export function invalidArgs(msg: string): ServiceError {
  return refusal(400, 'invalid_args', msg)
}

/** 404 `not_found`: there is nothing with that id, or the caller may not see it. */
export function notFound(msg: string): ServiceError {
  return refusal(404, 'not_found', msg)
}

/** 404 `no_such_instance`. */
export function noSuchInstance(id: number): ServiceError {
  return refusal(404, 'no_such_instance', `No instance ${id} on this account.`)
}
