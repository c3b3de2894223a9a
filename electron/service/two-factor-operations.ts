import type { Static } from 'typebox'
import * as Type from 'typebox'
import { userFields } from './account.ts'
import { plainAnswer, recordShape, singleAnswer } from './http/answer.ts'
import { type Confirmation, confirmation } from './http/confirmation.ts'
import type { Operation } from './http/operation.ts'

/** Section 2.6. Times in epoch seconds. */
const methodShape = Type.Object({
  id: Type.Integer(),
  user_id: Type.Optional(Type.Integer()),
  /** `sms` or `totp`. */
  method: Type.String(),
  label: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** Masked. */
  phone_number: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  is_primary: Type.Optional(Type.Boolean()),
  fail_count: Type.Optional(Type.Integer()),
  locked_until: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  created_at: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  last_used: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
})
export type MethodAnswer = Static<typeof methodShape>

const statusShape = Type.Object({
  tfa_enabled: Type.Boolean(),
  methods: Type.Array(methodShape),
  backup_codes_remaining: Type.Integer(),
  /** Whether the 30-minute window to add a method is open. */
  new_method_authorized: Type.Boolean(),
})
export type StatusAnswer = Static<typeof statusShape>

const verifiedShape = recordShape(
  { id: Type.Integer() },
  {
    ...userFields,
    /** A secret: the bearer key from now on. */
    session_key: Type.String(),
    /** After a login with a backup code; absent if none is left. */
    backup_codes_remaining: Type.Number(),
    legacy_tfa_user: Type.Boolean(),
  },
)
export type VerifiedUser = NonNullable<typeof verifiedShape.record>

const removedShape = Type.Object({
  msg: Type.String(),
  /** Absent after the last one was removed. */
  remaining_methods: Type.Optional(Type.Integer()),
})
export type MethodRemoved = Static<typeof removedShape>

const sentShape = Type.Object({ msg: Type.Optional(Type.String()), secret: Type.String() })
/** `secret` goes back with the code. */
export type CodeSent = Static<typeof sentShape>

const totpShape = Type.Object({
  /** Base32. */
  secret: Type.String(),
  /** An otpauth address. */
  provisioning_uri: Type.String(),
})
export type TotpSetup = Static<typeof totpShape>

const startedShape = Type.Object({
  success: Type.Boolean(),
  /** In the code flow. */
  secret: Type.Optional(Type.String()),
  /** In the backup code flow. */
  msg: Type.Optional(Type.String()),
})
export type AuthorizationStarted = Static<typeof startedShape>

const addedShape = Type.Object({
  success: Type.Boolean(),
  msg: Type.Optional(Type.String()),
  /** With the first method, and only once. */
  backup_codes: Type.Optional(Type.Array(Type.String())),
})
export type MethodAdded = Static<typeof addedShape>

const updatedShape = Type.Object({
  success: Type.Boolean(),
  msg: Type.Optional(Type.String()),
  method: methodShape,
})
export type MethodUpdated = Static<typeof updatedShape>

const codesShape = Type.Object({ msg: Type.Optional(Type.String()), backup_codes: Type.Array(Type.String()) })
export type BackupCodes = Static<typeof codesShape>

/** For rows of section 4.7's table that consume a code or send a message. */
const once = { repeat: 'never' } as const

/** Section 4.7's table, row by row. */
export const operations = {
  status: {
    method: 'GET',
    path: '/api/v0/tfa/status/',
    repeat: 'read',
    answer: plainAnswer(statusShape),
  } satisfies Operation<StatusAnswer>,
  login: {
    method: 'POST',
    path: '/api/v0/tfa/',
    ...once,
    answer: singleAnswer(verifiedShape),
  } satisfies Operation<VerifiedUser>,
  remove: {
    method: 'DELETE',
    path: '/api/v0/tfa/',
    ...once,
    answer: plainAnswer(removedShape),
  } satisfies Operation<MethodRemoved>,
  sendEmail: {
    method: 'POST',
    path: '/api/v0/tfa/email/',
    ...once,
    answer: plainAnswer(sentShape),
  } satisfies Operation<CodeSent>,
  sendSms: {
    method: 'POST',
    path: '/api/v0/tfa/sms/',
    ...once,
    answer: plainAnswer(sentShape),
  } satisfies Operation<CodeSent>,
  resendSms: {
    method: 'POST',
    path: '/api/v0/tfa/sms/resend/',
    ...once,
    answer: plainAnswer(sentShape),
  } satisfies Operation<CodeSent>,
  setUpTotp: {
    method: 'POST',
    path: '/api/v0/tfa/totp-setup/',
    repeat: 'harmless',
    answer: plainAnswer(totpShape),
  } satisfies Operation<TotpSetup>,
  authorize: {
    method: 'POST',
    path: '/api/v0/tfa/authorize-new-method/',
    ...once,
    answer: plainAnswer(startedShape),
  } satisfies Operation<AuthorizationStarted>,
  confirmAuthorization: {
    method: 'PUT',
    path: '/api/v0/tfa/authorize-new-method/',
    ...once,
    answer: confirmation,
  } satisfies Operation<Confirmation>,
  confirmMethod: {
    method: 'POST',
    path: '/api/v0/tfa/confirm-new/',
    ...once,
    answer: plainAnswer(addedShape),
  } satisfies Operation<MethodAdded>,
  update: {
    method: 'PUT',
    path: '/api/v0/tfa/update/',
    repeat: 'harmless',
    answer: plainAnswer(updatedShape),
  } satisfies Operation<MethodUpdated>,
  regenerate: {
    method: 'PUT',
    path: '/api/v0/tfa/regen-backup-codes/',
    ...once,
    answer: plainAnswer(codesShape),
  } satisfies Operation<BackupCodes>,
}
