import * as v from 'valibot'
import { named } from '../format/name.ts'
import { counted } from '../format/size.ts'
import { duration } from '../format/time.ts'

/** An exit code after which a command is tried again: any but 0 for `error`, that of the command `timeout` for `timeout`. */
const RetryOn = v.union(
  [v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(255)), v.picklist(['error', 'timeout'])],
  'is an exit code from 1 to 255, error or timeout',
)

/** How often a command that fails is tried again, after which exit codes, any by default, and whether each time elsewhere. */
export const Retry = v.strictObject({
  times: v.pipe(
    v.number('must be a number'),
    v.integer('enter a whole number'),
    v.minValue(1, 'at least 1'),
    v.maxValue(50, 'at most 50'),
  ),
  on: v.optional(
    v.union([RetryOn, v.pipe(v.array(RetryOn), v.minLength(1, 'is empty'), v.maxLength(50, 'at most 50'))]),
  ),
  elsewhere: v.optional(v.boolean('is true or false')),
})
export type Retry = v.InferOutput<typeof Retry>

/** Seconds before the first retry; each pause is twice the one before it, up to the longest. */
export const retryPauses = { first: 10, longest: 600 }
/** A command that fails within so many seconds of its start, so many times in a row, isn't tried again. */
export const failsAtOnce = { within: 60, times: 3 }

/** The exit code of the command `timeout`, and that of a process that was killed, most often because memory was full. */
const codes = { timeout: 124, killed: 137 }

/** The exit codes after which it is tried again, each once; `error` for any. */
export function retriedCodes({ on = 'error' }: Retry): (number | 'error')[] {
  return [...new Set([on].flat().map(one => (one === 'timeout' ? codes.timeout : one)))]
}

/** Whether it was killed, as the kernel does where memory is full, and others may. */
export function isKilled(code: number | undefined): boolean {
  return code === codes.killed
}

/** `timed out`, for an exit code that means something of its own. */
function exitMeaning(code: number): string | undefined {
  if (isKilled(code)) return 'killed, often out of memory'
  return code === codes.timeout ? 'timed out' : undefined
}

/** `exit code 137 (killed, often out of memory)`. */
export function exitCodeWords(code: number): string {
  const meaning = exitMeaning(code)
  return `exit code ${code}${meaning === undefined ? '' : ` (${meaning})`}`
}

/** The sentences of a plan on what happens if its command fails. */
export function retryWords(retry: Retry | undefined): string[] {
  if (!retry) return []
  const on = retriedCodes(retry)
  const which = on.includes('error')
    ? ''
    : ` with ${named(
        on.flatMap(code => (code === 'error' ? [] : exitCodeWords(code))),
        { last: ' or ' },
      )}`
  const { first, longest } = retryPauses
  const times = counted(retry.times, 'time')
  const where = retry.elsewhere
    ? `on another machine with its results, at most ${times}, within the highest cost.`
    : `on its machine, at most ${times}: ` +
      `${duration(first)} later, then after twice as long each time, at most ${duration(longest)}.`
  const { within, times: inRow } = failsAtOnce
  return [
    `If the command fails${which}, it’s tried again ${where} ` +
      `If it fails within ${duration(within)} ${counted(inRow, 'time')} in a row, it isn’t tried again.`,
  ]
}
