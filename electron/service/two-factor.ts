import type { Confirmation } from './http/confirmation.ts'
import type { CallOptions, Input, Send } from './http/operation.ts'
import type {
  AuthorizationStarted,
  BackupCodes,
  CodeSent,
  MethodAdded,
  MethodRemoved,
  MethodUpdated,
  TotpSetup,
  TwoFactorStatus,
  VerifiedUser,
} from './two-factor-operations.ts'
import { operations } from './two-factor-operations.ts'

/** How the user proves to be themselves: a code of one method, or a backup code in place of all else. */
export interface Proof {
  tfa_method?: 'sms' | 'totp' | 'email'
  /** Six digits. */
  code?: string
  /** The challenge's, from the send step: for SMS and email. */
  secret?: string
  /** Needed when there are several methods of the kind. */
  tfa_method_id?: number
  /** `XXXX-XXXX-XXXX`. */
  backup_code?: string
}

/** The login path: with the `tfa_secret` of the browser login, no bearer key is sent. */
export interface LoginPath {
  tfa_secret?: string
}

export interface LoginRequest extends Proof, LoginPath {
  /** Asks for an administrator's session. */
  admin?: boolean
}

export interface EmailRequest extends LoginPath {
  secret?: string
}

export interface SmsRequest extends LoginPath {
  /** E.164; needed without `tfa_method_id` and without a number on the account. */
  phone_number?: string
  tfa_method_id?: number
  secret?: string
}

export interface NewMethod {
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
  /** Where exactly one of the kind exists. */
  tfa_method?: 'sms' | 'totp'
  /** At most 30 characters. */
  label?: string
  is_primary?: boolean
}

/**
 * Two-factor authentication (section 4.7). Every method throws ServiceError with a code of section 7's second table;
 * `failCount` and `lockedUntil` are in it where the service tells them. What uses a code up or sends a message is
 * never repeated by itself.
 */
export interface TwoFactor {
  /** The methods, the backup codes left, and whether a method may be added now. */
  status(options?: CallOptions): Promise<TwoFactorStatus>
  /**
   * Completes a login. `session_key` is there for callers with an API key: a new client's key from then on. On the
   * login path the session is in a cookie or header, which this client does not keep.
   */
  login(request: LoginRequest, options?: CallOptions): Promise<VerifiedUser>
  /** Removes the method that verifies, or `target_id` (needed with a backup code). */
  removeMethod(proof: Proof & { target_id?: number }, options?: CallOptions): Promise<MethodRemoved>
  // interface 8: Challenge lifetime: 10 minutes
  /** Sends a code to the verified email address. Gives the challenge's secret, valid for 10 minutes. */
  sendEmail(request: EmailRequest, options?: CallOptions): Promise<CodeSent>
  /** Sends a code by text message. `tfa_challenge_exists`: use `resendSms`. */
  sendSms(request: SmsRequest, options?: CallOptions): Promise<CodeSent>
  /** Sends the code again; the number must be that of the first time. */
  resendSms(request: SmsRequest, options?: CallOptions): Promise<CodeSent>
  /** Makes an authenticator's secret. Nothing is added until `confirmMethod`. */
  setUpTotp(options?: CallOptions): Promise<TotpSetup>
  /** Asks to add a method: with a backup code it is granted at once, else a code is sent and `secret` is there. */
  authorizeNewMethod(
    request: Pick<Proof, 'tfa_method' | 'tfa_method_id' | 'backup_code'>,
    options?: CallOptions,
  ): Promise<AuthorizationStarted>
  // interface 3.2: An authorization opens a window of 30 minutes, told by `new_method_authorized`
  /** Confirms with the code sent: opens 30 minutes in which a method may be added. */
  confirmAuthorization(
    request: { code: string; secret: string },
    options?: CallOptions,
  ): Promise<Confirmation>
  /** Adds a method. With the first one come the backup codes, shown this once. */
  confirmMethod(method: NewMethod, options?: CallOptions): Promise<MethodAdded>
  /** Changes a method's label or makes it the primary one. Not for email. */
  updateMethod(changes: MethodChanges, options?: CallOptions): Promise<MethodUpdated>
  // interface 3.2: A legacy account’s number becomes a method before its codes are regenerated
  /** Replaces all backup codes by 10 new ones, shown this once. */
  regenerateBackupCodes(proof: Proof, options?: CallOptions): Promise<BackupCodes>
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

// interface 4.7: The login path takes `tfa_secret` alone
function onLoginPath(body: LoginPath): Input {
  return { body, bearer: body.tfa_secret === undefined }
}

/** Without a bearer key, section 4.7 wants the send steps' `secret`: the only one there is yet is the login's own. */
function asSendStep(request: LoginPath & { secret?: string }): Input {
  const { tfa_secret } = request
  return onLoginPath(tfa_secret === undefined ? request : { secret: tfa_secret, ...request })
}
