import Type from 'typebox'
import { recordShape, single } from './http/answer.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

/** The user, as GET `/users/current/` and a verified login give it (section 4.1). */
export const userShape = recordShape(
  {
    id: Type.Integer(),
    email: Type.String(),
    /** Dollars. */
    credit: Type.Number(),
    /** `enabled`, `disabled` or `legacy` (section 3.2). */
    tfa_status: Type.String(),
  },
  { ssh_key: Type.String(), email_verified_at: Type.Union([Type.Number(), Type.String()]) },
)
export type User = NonNullable<typeof userShape.record>

const currentUser: Operation<User> = {
  method: 'GET',
  path: '/api/v0/users/current/',
  repeat: 'read',
  answer: single(userShape),
}

/** The account itself (section 4.1). Every method throws ServiceError. */
export interface Account {
  /** Who the key belongs to, and what credit is left in dollars. */
  currentUser(options?: CallOptions): Promise<User>
}

export function account(send: Send): Account {
  return { currentUser: options => send(currentUser, {}, options) }
}
