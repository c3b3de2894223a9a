import type { WatchdogWish } from '../../../../electron/contract/automation/watchdog.ts'
import type { Problem } from '../../../../electron/contract/problem.ts'
import { asTyped, typedNumber } from '../../../components/fields/numbers.ts'

/** What the form holds, as it is typed. */
export interface WatchdogFields {
  action: 'stop' | 'destroy'
  timed: boolean
  /** Hours from now. */
  hours: string
  idle: boolean
  /** Minutes, and percent. */
  idleMinutes: string
  below: string
  leased: boolean
  /** Minutes. */
  leaseMinutes: string
}

type FieldName = 'hours' | 'idleMinutes' | 'below' | 'leaseMinutes'
export type WatchdogErrors = Partial<Record<FieldName, string>>

export const emptyFields: WatchdogFields = {
  action: 'stop',
  timed: false,
  hours: '8',
  idle: true,
  idleMinutes: '30',
  below: '5',
  leased: false,
  leaseMinutes: '120',
}

/** The form for the watchdog that is there. `now` in epoch seconds of the account's time. */
export function fieldsOf({ action, at, idle, lease }: WatchdogWish, now: number): WatchdogFields {
  return {
    action,
    timed: at !== undefined && at > now,
    hours: at === undefined || at <= now ? emptyFields.hours : asTyped((at - now) / 3600),
    idle: idle !== undefined,
    idleMinutes: idle ? asTyped(idle.seconds / 60) : emptyFields.idleMinutes,
    below: idle ? String(idle.below) : emptyFields.below,
    leased: lease !== undefined,
    leaseMinutes: lease === undefined ? emptyFields.leaseMinutes : asTyped(lease / 60),
  }
}

/** What is asked for, or which fields do not say it. */
export function readWish(
  fields: WatchdogFields,
  now: number,
): { wish: WatchdogWish; errors?: undefined } | { wish?: undefined; errors: WatchdogErrors } {
  const errors: WatchdogErrors = {}
  const amount = (name: FieldName, seconds: number, what: string): number => {
    const value = typedNumber(fields[name]) ?? Number.NaN
    const whole = Math.round(value * seconds)
    if (Number.isNaN(value)) errors[name] = `Give ${what} as a number.`
    else if (whole < 5) errors[name] = 'At least 5 seconds.'
    else if (whole > 90 * 86_400) errors[name] = 'At most 90 days.'
    return whole
  }
  const hours = fields.timed ? amount('hours', 3600, 'the hours') : undefined
  const idle = fields.idle ? amount('idleMinutes', 60, 'the minutes') : undefined
  const lease = fields.leased ? amount('leaseMinutes', 60, 'the minutes') : undefined
  const below = typedNumber(fields.below) ?? Number.NaN
  if (fields.idle && !(Number.isInteger(below) && below >= 1 && below <= 100))
    errors.below = 'A whole percent from 1 to 100.'
  if (Object.keys(errors).length > 0) return { errors }
  return {
    wish: {
      action: fields.action,
      ...(hours === undefined ? {} : { at: Math.ceil(now + hours) }),
      ...(idle === undefined ? {} : { idle: { seconds: idle, below } }),
      ...(lease === undefined ? {} : { lease }),
    },
  }
}

/** What is wrong at each field: as it is typed, or as Berth has refused it. */
export function errorsAt(
  typed: WatchdogErrors | undefined,
  refused: Pick<Problem, 'message' | 'field'> | undefined,
): WatchdogErrors | undefined {
  return refused?.field === 'wish.at' ? { hours: refused.message, ...typed } : typed
}

/** A start script with lines put first, after the line that says what runs it. */
export function withLinesFirst(script: string, lines: string): string {
  const [, head = '', rest = ''] = /^(#![^\n]*\n)?([\s\S]*)$/.exec(script) ?? []
  return `${head}${lines}${rest}`
}
