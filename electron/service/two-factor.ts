import type { Static } from 'typebox'
import * as Type from 'typebox'
import { userFields } from './account.ts'
import { confirmation, plainAnswer, recordShape, singleAnswer } from './http/answer.ts'
import { type CallOptions, type Input, operation, type Send } from './http/operation.ts'

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
export function twoFactor(send: Send) {
  return {
    /** The methods, the backup codes left, and whether a method may be added now. */
    status: (options?: CallOptions) => send(operations.status, {}, options),
    /**
     * Completes a login. Callers with an API key get a `session_key`, the key for a new client. On the login path the
     * session is in a cookie or header, which this client does not store.
     */
    login: (request: LoginRequest, options?: CallOptions) =>
      send(operations.login, onLoginPath(request), options),
    /** Removes the method of the proof, or `target_id` (required with a backup code). */
    removeMethod: (proof: ProofBody & { target_id?: number }, options?: CallOptions) =>
      send(operations.remove, { body: proof }, options),
    /** Sends a code to the verified email address. Gives the challenge's secret, valid for 10 minutes. */
    sendEmail: (request: EmailRequest, options?: CallOptions) =>
      send(operations.sendEmail, asSendStep(request), options),
    /** Sends a code by text message. `tfa_challenge_exists`: use `resendSms`. */
    sendSms: (request: SmsBody, options?: CallOptions) =>
      send(operations.sendSms, asSendStep(request), options),
    /** Sends the code again, to the same number as before. */
    resendSms: (request: SmsBody, options?: CallOptions) =>
      send(operations.resendSms, asSendStep(request), options),
    /** Creates an authenticator's secret. Nothing is added until `confirmMethod`. */
    setUpTotp: (options?: CallOptions) => send(operations.setUpTotp, {}, options),
    /** Requests to add a method: granted at once with a backup code; else a code is sent, and `secret` is set. */
    authorizeNewMethod: (
      request: Pick<ProofBody, 'tfa_method' | 'tfa_method_id' | 'backup_code'>,
      options?: CallOptions,
    ) => send(operations.authorize, { body: request }, options),
    /** Confirms with the code, which opens 30 minutes to add a method. */
    confirmAuthorization: (request: { code: string; secret: string }, options?: CallOptions) =>
      send(operations.confirmAuthorization, { body: request }, options),
    /** Adds a method. The first one's answer has the backup codes, only once. */
    confirmMethod: (method: NewMethodBody, options?: CallOptions) =>
      send(operations.confirmMethod, { body: method }, options),
    /** Changes a method's label or makes it the primary one. Not for email. */
    updateMethod: (changes: MethodChanges, options?: CallOptions) =>
      send(operations.update, { body: changes }, options),
    /** Replaces all backup codes by 10 new ones, which are shown only once. */
    regenerateBackupCodes: (proof: ProofBody, options?: CallOptions) =>
      send(operations.regenerate, { body: proof }, options),
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

const removedShape = Type.Object({
  msg: Type.String(),
  /** Absent after the last one was removed. */
  remaining_methods: Type.Optional(Type.Integer()),
})

/** `secret` goes back with the code. */
const sentShape = Type.Object({ msg: Type.Optional(Type.String()), secret: Type.String() })

const totpShape = Type.Object({
  /** Base32. */
  secret: Type.String(),
  /** An otpauth address. */
  provisioning_uri: Type.String(),
})

const startedShape = Type.Object({
  success: Type.Boolean(),
  /** In the code flow. */
  secret: Type.Optional(Type.String()),
  /** In the backup code flow. */
  msg: Type.Optional(Type.String()),
})

const addedShape = Type.Object({
  success: Type.Boolean(),
  msg: Type.Optional(Type.String()),
  /** With the first method, and only once. */
  backup_codes: Type.Optional(Type.Array(Type.String())),
})

const updatedShape = Type.Object({
  success: Type.Boolean(),
  msg: Type.Optional(Type.String()),
  method: methodShape,
})

const codesShape = Type.Object({ msg: Type.Optional(Type.String()), backup_codes: Type.Array(Type.String()) })

/** Section 4.7's table, row by row. What consumes a code or sends a message is never repeated. */
const operations = {
  status: operation('GET', '/api/v0/tfa/status/', 'read', plainAnswer(statusShape)),
  login: operation('POST', '/api/v0/tfa/', 'never', singleAnswer(verifiedShape)),
  remove: operation('DELETE', '/api/v0/tfa/', 'never', plainAnswer(removedShape)),
  sendEmail: operation('POST', '/api/v0/tfa/email/', 'never', plainAnswer(sentShape)),
  sendSms: operation('POST', '/api/v0/tfa/sms/', 'never', plainAnswer(sentShape)),
  resendSms: operation('POST', '/api/v0/tfa/sms/resend/', 'never', plainAnswer(sentShape)),
  setUpTotp: operation('POST', '/api/v0/tfa/totp-setup/', 'harmless', plainAnswer(totpShape)),
  authorize: operation('POST', '/api/v0/tfa/authorize-new-method/', 'never', plainAnswer(startedShape)),
  confirmAuthorization: operation('PUT', '/api/v0/tfa/authorize-new-method/', 'never', confirmation),
  confirmMethod: operation('POST', '/api/v0/tfa/confirm-new/', 'never', plainAnswer(addedShape)),
  update: operation('PUT', '/api/v0/tfa/update/', 'harmless', plainAnswer(updatedShape)),
  regenerate: operation('PUT', '/api/v0/tfa/regen-backup-codes/', 'never', plainAnswer(codesShape)),
}
