import { epochSeconds } from '../clock.ts'
import { twoFactorRefusal } from './refusals.ts'

/** Failed attempts that lock a method. */
const TOO_MANY = 5
/** World milliseconds of a lockout (section 8). */
const LOCKOUT = 15 * 60_000

interface CommonFields {
  id: number
  label: string
  isPrimary: boolean
  failCount: number
  /** World milliseconds; null if it never was locked, in the past once that is over. */
  lockedUntil: number | null
  /** World milliseconds. */
  createdAt: number
  /** World milliseconds. */
  lastUsed: number
}

export interface SmsMethod extends CommonFields {
  kind: 'sms'
  /** E.164. */
  phoneNumber: string
}

export interface TotpMethod extends CommonFields {
  kind: 'totp'
  /** Base32. */
  secret: string
}

/** A method on the account, section 2.6. */
export type Method = SmsMethod | TotpMethod

/** `fail_count` and `locked_until` for errors and records; a lockout that is over leaves no trace. */
export function attempts(method: Method, now: number): { fail_count: number; locked_until: number | null } {
  const { failCount, lockedUntil } = method
  if (lockedUntil === null) return { fail_count: failCount, locked_until: null }
  if (now >= lockedUntil) return { fail_count: 0, locked_until: null }
  return { fail_count: failCount, locked_until: epochSeconds(lockedUntil) }
}

/** Throws 429 `tfa_locked` while a method is locked. */
export function refuseLocked(method: Method, now: number): void {
  const told = attempts(method, now)
  if (told.locked_until === null) return
  throw twoFactorRefusal(
    'tfa_locked',
    'Too many failed attempts: this method is locked for 15 minutes.',
    told,
  )
}

/** Counts a failed attempt; the fifth in a row locks the method. */
export function countFailure(method: Method, now: number): void {
  method.failCount = attempts(method, now).fail_count + 1
  method.lockedUntil = method.failCount >= TOO_MANY ? now + LOCKOUT : null
}

/** Notes a successful use, which resets the failures. */
export function countSuccess(method: Method, now: number): void {
  method.failCount = 0
  method.lockedUntil = null
  method.lastUsed = now
}

/** The record of section 2.6: without an authenticator's secret, the number masked. */
export function methodRecord(method: Method, userId: number, now: number): Record<string, unknown> {
  return {
    id: method.id,
    user_id: userId,
    method: method.kind,
    label: method.label,
    ...(method.kind === 'sms' ? { phone_number: masked(method.phoneNumber) } : {}),
    is_primary: method.isPrimary,
    ...attempts(method, now),
    created_at: epochSeconds(method.createdAt),
    last_used: epochSeconds(method.lastUsed),
  }
}

/** All but the last 4 digits starred out. */
function masked(phoneNumber: string): string {
  return '*'.repeat(phoneNumber.length - 4) + phoneNumber.slice(-4)
}
