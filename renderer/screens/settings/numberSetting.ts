import * as v from 'valibot'
import { figure } from '../../../electron/contract/format/size.ts'
import { typedNumber } from '../../components/fields/numbers.ts'

/** Reads a typed number for a setting: the value in the setting's own unit, or what is wrong with it. */
export function readSetting(
  text: string,
  schema: v.GenericSchema<number, number>,
  scale = 1,
): { value: number } | { error: string } {
  const number = typedNumber(text)
  if (number === undefined || Number.isNaN(number)) return { error: 'Give a number.' }
  const result = v.safeParse(schema, number * scale)
  if (result.success) return { value: result.output }
  return { error: bound(result.issues[0], scale) }
}

function bound(issue: v.BaseIssue<unknown>, scale: number): string {
  const limit =
    'requirement' in issue && typeof issue.requirement === 'number' ? issue.requirement / scale : 0
  const written = figure(limit, 3)
  if (issue.type === 'min_value') return `At least ${written}.`
  return issue.type === 'max_value' ? `At most ${written}.` : 'This is not possible.'
}
