import * as v from 'valibot'
import { WatchdogRequest, watchdogSpan } from '#contract/automation/watchdog.ts'
import type { Problem } from '#contract/problem.ts'
import { asTyped } from '#renderer/components/fields/numbers.ts'
import { type FormErrors, number, type ReadForm, readForm } from '#renderer/components/fields/readForm.ts'

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
export function watchdogFieldsOf({ action, at, idle, lease }: WatchdogRequest, now: number): WatchdogFields {
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

/** As a request, but `at` is in seconds from now. */
const TypedRequest = v.object({ ...WatchdogRequest.entries, at: v.optional(watchdogSpan('the hours')) })

const fieldsByPath: Record<string, keyof WatchdogFields> = {
  at: 'hours',
  'idle.seconds': 'idleMinutes',
  'idle.below': 'below',
  lease: 'leaseMinutes',
}

/** What is asked for, or which fields do not say it. */
export function readRequest(fields: WatchdogFields, now: number): ReadForm<WatchdogRequest> {
  const seconds = (text: string, scale: number) => Math.round(number(text, scale))
  const idle = { seconds: seconds(fields.idleMinutes, 60), below: number(fields.below) }
  const read = readForm(
    TypedRequest,
    {
      action: fields.action,
      at: fields.timed ? seconds(fields.hours, 3600) : undefined,
      idle: fields.idle ? idle : undefined,
      lease: fields.leased ? seconds(fields.leaseMinutes, 60) : undefined,
    },
    path => fieldsByPath[path] ?? '',
  )
  if (read.errors) return read
  const { at, ...rest } = read.value
  return { value: at === undefined ? rest : { ...rest, at: Math.ceil(now + at) } }
}

/** What is wrong at each field: as it is typed, or as Berth has refused it. */
export function errorsAt(
  typed: FormErrors | undefined,
  refused: Pick<Problem, 'message' | 'field'> | undefined,
): FormErrors | undefined {
  return refused?.field === 'request.at' ? { hours: refused.message, ...typed } : typed
}

/** A start script with lines put first, after a line such as `#!/bin/sh`. */
export function withLinesFirst(script: string, lines: string): string {
  const [, head = '', rest = ''] = /^(#![^\n]*\n)?([\s\S]*)$/.exec(script) ?? []
  return `${head}${lines}${rest}`
}
