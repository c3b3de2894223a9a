import * as v from 'valibot'
import { plainText } from './text.ts'

/** A name as one line without anything unseen: it stands in questions, beside what it must not pass for. */
export const name = v.pipe(
  v.string(),
  v.transform(plainText),
  v.nonEmpty('enter a name'),
  v.maxLength(64, 'at most 64 characters'),
)

/** A text that may be empty. */
export function text(most: number) {
  return v.pipe(v.string(), v.maxLength(most, `at most ${most} characters`))
}

/** A text that may not be empty; `what` is its name in messages, such as `the mount path`. */
export function given(what: string, most: number) {
  return v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty(`enter ${what}`),
    v.maxLength(most, `at most ${most} characters`),
  )
}

/** The service's integer id of anything but an instance. */
export const ServiceId = v.pipe(
  v.number('an id is a number'),
  v.safeInteger('an id is a whole number'),
  v.minValue(1, 'ids begin at 1'),
)
