import { refusal, type ServiceError } from '#simulator/errors.ts'

/** The codes of section 7's second table with their HTTP statuses. */
const statuses = {
  bad_request: 400,
  auth_error: 403,
  invalid_tfa_method: 400,
  missing_auth_value: 400,
  missing_params: 400,
  email_not_verified: 400,
  '2fa_expired': 400,
  challenge_not_found: 400,
  no_challenge_found: 400,
  tfa_challenge_exists: 400,
  authorization_required: 403,
  no_pending_authorization: 400,
  invalid_backup_code: 401,
  untracked_2fa_found: 400,
  duplicate_tfa_method: 400,
  twilio_error: 400,
  preauth_phone_cap: 429,
  sms_rate_limited: 429,
  tfa_locked: 429,
  service_unavailable: 503,
  phone_number_mismatch: 400,
  '2fa_login_failed': 400,
  '2fa_verification_failed': 400,
  team_user_forbidden: 403,
  missing_email: 400,
  missing_phone_number: 400,
  not_found: 404,
  tfa_method_not_configured: 400,
  challenge_creation_failed: 500,
  sms_blocked_number: 400,
  sms_fraud_detected: 403,
} as const

export type TwoFactorCode = keyof typeof statuses

/** The refusal with a code of section 7's second table. */
export function twoFactorRefusal(
  code: TwoFactorCode,
  msg: string,
  extra: Record<string, unknown> = {},
): ServiceError {
  return refusal(statuses[code], code, msg, extra)
}
