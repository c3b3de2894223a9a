import type { Static } from 'typebox'
import * as Type from 'typebox'
import { userFields } from './account.ts'
import { plainAnswer, recordShape, singleAnswer } from './http/answer.ts'
import { type Confirmation, confirmation } from './http/confirmation.ts'
import type { CallOptions, Input, Operation, Send } from './http/operation.ts'

/** The user's second factor: a code of one method, or only a backup code. */
export interface ProofBody {
  tfa_method?: 'sms' | 'totp' | 'email'
  /** Six digits. */
  code?: string
  /** The challenge's secret from the send step, for SMS and email. */
  secret?: string
  /** Required if there are several methods of the kind. */
  tfa_method_id?: number
  /** `XXXX-XXXX-XXXX`. */
  backup_code?: string
}

/** For the login path: with the `tfa_secret` of the browser login, no bearer key is sent. */
export interface LoginPath {
  tfa_secret?: string
}

export interface LoginRequest extends ProofBody, LoginPath {
  /** Requests an administrator's session. */
  admin?: boolean
}

export interface EmailRequest extends LoginPath {
  secret?: string
}

export interface SmsBody extends LoginPath {
  /** E.164; required without `tfa_method_id` and a number on the account. */
  phone_number?: string
  tfa_method_id?: number
  secret?: string
}

export interface NewMethodBody {
  tfa_method: 'sms' | 'totp'
  code: string
  /** The SMS challenge's, or the base32 secret of `setUpTotp`. */
  secret: string
  /** E.164, SMS only. */
  phone_number?: string
  /** At most 30 characters. */
  label?: string
}

export interface MethodChanges {
  tfa_method_id?: number
  /** If exactly one of the kind exists. */
  tfa_method?: 'sms' | 'totp'
  /** At most 30 characters. */
  label?: string
  is_primary?: boolean
}

/**
 * Two-factor authentication (section 4.7). Every method throws ServiceError with a code of section 7's second table,
 * and `failCount` and `lockedUntil` if the service sends them. Requests that consume a code or send a message are
 * never repeated automatically.
 */
export interface TwoFactor {
  /** The methods, the backup codes left, and whether a method may be added now. */
  status(options?: CallOptions): Promise<StatusAnswer>
  /**
   * Completes a login. Callers with an API key get a `session_key`, the key for a new client. On the login path the
   * session is in a cookie or header, which this client does not store.
   */
  login(request: LoginRequest, options?: CallOptions): Promise<VerifiedUser>
  /** Removes the method of the proof, or `target_id` (required with a backup code). */
  removeMethod(proof: ProofBody & { target_id?: number }, options?: CallOptions): Promise<MethodRemoved>
  /** Sends a code to the verified email address. Gives the challenge's secret, valid for 10 minutes. */
  sendEmail(request: EmailRequest, options?: CallOptions): Promise<CodeSent>
  /** Sends a code by text message. `tfa_challenge_exists`: use `resendSms`. */
  sendSms(request: SmsBody, options?: CallOptions): Promise<CodeSent>
  /** Sends the code again, to the same number as before. */
  resendSms(request: SmsBody, options?: CallOptions): Promise<CodeSent>
  /** Creates an authenticator's secret. Nothing is added until `confirmMethod`. */
  setUpTotp(options?: CallOptions): Promise<TotpSetup>
  /** Requests to add a method: granted at once with a backup code; else a code is sent, and `secret` is set. */
  authorizeNewMethod(
    request: Pick<ProofBody, 'tfa_method' | 'tfa_method_id' | 'backup_code'>,
    options?: CallOptions,
  ): Promise<AuthorizationStarted>
  /** Confirms with the code, which opens 30 minutes to add a method. */
  confirmAuthorization(
    request: { code: string; secret: string },
    options?: CallOptions,
  ): Promise<Confirmation>
  /** Adds a method. The first one's answer has the backup codes, only once. */
  confirmMethod(method: NewMethodBody, options?: CallOptions): Promise<MethodAdded>
  /** Changes a method's label or makes it the primary one. Not for email. */
  updateMethod(changes: MethodChanges, options?: CallOptions): Promise<MethodUpdated>
  /** Replaces all backup codes by 10 new ones, which are shown only once. */
  regenerateBackupCodes(proof: ProofBody, options?: CallOptions): Promise<BackupCodes>
}

export function twoFactor(send: Send): TwoFactor {
  return {
    status: options => send(operations.status, {}, options),
    login: (request, options) => send(operations.login, onLoginPath(request), options),
    removeMethod: (proof, options) => send(operations.remove, { body: proof }, options),
    sendEmail: (request, options) => send(operations.sendEmail, asSendStep(request), options),
    sendSms: (request, options) => send(operations.sendSms, asSendStep(request), options),
    resendSms: (request, options) => send(operations.resendSms, asSendStep(request), options),
    setUpTotp: options => send(operations.setUpTotp, {}, options),
    authorizeNewMethod: (request, options) => send(operations.authorize, { body: request }, options),
    confirmAuthorization: (request, options) =>
      send(operations.confirmAuthorization, { body: request }, options),
    confirmMethod: (method, options) => send(operations.confirmMethod, { body: method }, options),
    updateMethod: (changes, options) => send(operations.update, { body: changes }, options),
    regenerateBackupCodes: (proof, options) => send(operations.regenerate, { body: proof }, options),
  }
}

function onLoginPath(body: LoginPath): Input {
  return { body, bearer: body.tfa_secret === undefined }
}

/** Section 4.7 requires a `secret` without a bearer key; at a send step the login's own is the only one so far. */
function asSendStep(request: LoginPath & { secret?: string }): Input {
  const { tfa_secret } = request
  return onLoginPath(tfa_secret === undefined ? request : { secret: tfa_secret, ...request })
}

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
