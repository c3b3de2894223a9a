import * as v from 'valibot'
import { ServiceError } from '#service/service-error.ts'
import { BerthError, type Problem } from '#shared/problem.ts'

/** The stored form of a problem. */
export const StoredProblem: v.GenericSchema<Problem> = v.object({
  code: v.string(),
  message: v.string(),
  advice: v.optional(v.string()),
  unsure: v.optional(v.boolean()),
  field: v.optional(v.string()),
  facts: v.optional(v.record(v.string(), v.string())),
  refusal: v.optional(
    v.object({
      limit: v.picklist(['permission', 'day', 'hour', 'machines', 'price', 'volume', 'ownership']),
      name: v.string(),
      cap: v.nullable(v.number()),
      used: v.nullable(v.number()),
      left: v.nullable(v.number()),
      retry: v.picklist(['never', 'after_an_end', 'tomorrow']),
    }),
  ),
})

/** Codes whose detail is Berth's own text about an invalid answer. */
const ownWords: ReadonlySet<string> = new Set(['bad_answer', 'too_large', 'not_this_service'])

/** Any error as a problem for the user. Unexpected errors lose their message, which may contain anything. */
export function problemOf(error: unknown): Problem {
  if (error instanceof BerthError) return error.problem
  if (error instanceof ServiceError) return serviceProblem(error)
  return {
    code: 'internal',
    message: 'Something in Berth went wrong.',
    advice: 'Try again. The log has details.',
  }
}

function serviceProblem({
  code,
  message,
  advice,
  detail,
  ambiguous,
  failCount,
  lockedUntil,
}: ServiceError): Problem {
  return {
    code,
    ...(ambiguous
      ? {
          message: `${message} It may still have taken effect.`,
          advice: 'Check before you try again.',
          unsure: true,
        }
      : { message, advice: advice || undefined }),
    facts: detail ? { [ownWords.has(code) ? 'Details' : 'The service says']: detail } : undefined,
    failCount,
    lockedUntil,
  }
}

/** Class and stack of an error, without its message, which may contain secrets. */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = error.stack?.split('\n').filter(line => /^\s+at /.test(line)) ?? []
  return [error.name, ...frames.slice(0, 5).map(frame => frame.trim())].join(' ')
}

/** A permission category (FIELDS lists the calls of each) and its purpose in words. */
const may = {
  user_read: 'read the account',
  user_write: 'change the account',
  instance_read: 'see instances',
  instance_write: 'change instances',
  machine_read: 'read machines',
  machine_write: 'change machines',
  misc: 'use workergroups',
} as const
export type Permission = keyof typeof may

/**
 * Awaits a call that needs a permission. On an account whose key is otherwise valid, a bare 401 or 403 most likely
 * means that a scoped key lacks it, or that the key needs a login with two factors, so the error says that.
 */
export async function needingPermission<Answer>(
  permission: Permission,
  call: Promise<Answer>,
): Promise<Answer> {
  try {
    return await call
  } catch (error) {
    const lacking = lackedBy(error, permission)
    throw lacking ? new BerthError(lacking) : error
  }
}

/** The problem of a failed call that lacked the permission, or a login; undefined for other errors. */
export function lackedBy(error: unknown, permission: Permission): Problem | undefined {
  if (error instanceof ServiceError && error.code === 'tfa_needed') return problemOf(error)
  if (!(error instanceof ServiceError) || (error.code !== 'unauthorized' && error.code !== 'forbidden'))
    return undefined
  const { facts } = problemOf(error)
  return {
    code: error.code,
    message: `Berth’s key for this account can’t ${may[permission]}: it lacks the permission ${permission}.`,
    advice: 'Use a key that has it. If the key needs two-factor authentication, log in first.',
    facts,
  }
}
