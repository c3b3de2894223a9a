export interface Sentence {
  message: string
  advice: string
}

/** Section 7, two-factor table: the text for the user about each code. */
export const twoFactorSentences = {
  bad_request: {
    message: 'The service could not read the request: a field is missing or has the wrong form.',
    advice: 'Check what you entered and try again.',
  },
  auth_error: {
    message: 'The service did not accept the key or the login.',
    advice: 'Check the API key of this account, or log in again.',
  },
  invalid_tfa_method: {
    message: 'The service does not know this kind of two-factor method.',
    advice: 'Choose text message, authenticator app or email.',
  },
  missing_auth_value: {
    message: 'Neither a code nor a backup code was given.',
    advice: 'Enter the six-digit code, or one of your backup codes.',
  },
  missing_params: {
    message: 'The code, or the login it belongs to, is missing.',
    advice: 'Ask for a new code and enter it.',
  },
  email_not_verified: {
    message: 'The email address of this account is not verified, so the service sends no codes.',
    advice: 'Verify the address in the web console, then ask for a code again.',
  },
  '2fa_expired': {
    message: 'The code is older than ten minutes and no longer valid.',
    advice: 'Ask for a new code.',
  },
  challenge_not_found: {
    message: 'The service doesn’t know the login that this code belongs to.',
    advice: 'Ask for a new code and use that one.',
  },
  no_challenge_found: {
    message: 'No code is waiting to be entered.',
    advice: 'Ask for a code first.',
  },
  tfa_challenge_exists: {
    message: 'A code was sent to this phone a short while ago and is still valid.',
    advice: 'Enter that code, or have it sent again with Resend.',
  },
  authorization_required: {
    message: 'Adding a method must be authorized first, or the 30 minutes for it are over.',
    advice: 'Authorize adding a method again, then add it within 30 minutes.',
  },
  no_pending_authorization: {
    message: 'There is no authorization waiting for this code.',
    advice: 'Start the authorization again and enter the new code.',
  },
  invalid_backup_code: {
    message: 'This backup code is wrong or has been used before.',
    advice: 'Use another backup code; each works once.',
  },
  untracked_2fa_found: {
    message: 'This account uses an old form of two-factor authentication that cannot be changed this way.',
    advice: 'Replace the backup codes once, which brings the account up to date, or use the web console.',
  },
  duplicate_tfa_method: {
    message: 'This account already has a method of this kind.',
    advice: 'Remove the existing one first, or keep using it.',
  },
  twilio_error: {
    message: 'The text message could not be delivered.',
    advice: 'Check the phone number with its country code, or use another method.',
  },
  preauth_phone_cap: {
    message: 'This phone number was used in too many authorization attempts.',
    advice: 'Wait a while, or use another method.',
  },
  sms_rate_limited: {
    message: 'Too many text messages with codes were asked for.',
    advice: 'Wait a while before asking again, or use another method.',
  },
  tfa_locked: {
    message: 'This method is locked for 15 minutes after too many wrong codes.',
    advice: 'Wait until the lock ends, or use another method or a backup code.',
  },
  service_unavailable: {
    message: 'The service cannot check authorizations at the moment.',
    advice: 'Try again in a minute.',
  },
  phone_number_mismatch: {
    message: 'This phone number is not the one the code was sent to.',
    advice: 'Use the number you asked the code for, or ask for a new code.',
  },
  '2fa_login_failed': {
    message: 'The login was not verified: the code is wrong or no longer valid.',
    advice: 'Check the code and enter it again, or ask for a new one.',
  },
  '2fa_verification_failed': {
    message: 'The code was not accepted.',
    advice: 'Check the code and enter it again; too many wrong ones lock the method for 15 minutes.',
  },
  team_user_forbidden: {
    message: 'Two-factor settings cannot be changed from within a team.',
    advice: 'Use a key of your personal account.',
  },
  missing_email: {
    message: 'This account has no email address.',
    advice: 'Add one in the web console first.',
  },
  missing_phone_number: {
    message: 'No phone number was given, and the account has none.',
    advice: 'Enter a phone number with its country code, such as +15551234567.',
  },
  tfa_method_not_configured: {
    message: 'The authenticator app is not set up for this account, or its secret was lost.',
    advice: 'Set the authenticator app up again, or use another method.',
  },
  challenge_creation_failed: {
    message: 'The service could not create a code.',
    advice: 'Try again.',
  },
  sms_blocked_number: {
    message: 'The service sends no text messages to this number, because numbers like it are often misused.',
    advice: 'Use another number, or an authenticator app.',
  },
  sms_fraud_detected: {
    message: 'Text messages are switched off for this account after suspected misuse.',
    advice: 'Use an authenticator app or email, and ask the service’s support to clear the account.',
  },
} satisfies Record<string, Sentence>
