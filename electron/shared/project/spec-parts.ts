import * as v from 'valibot'

/** Text of at least one character, without blanks around it. `empty` is said where there is none. */
export const textUpTo = (most: number, empty = 'is empty') =>
  v.pipe(
    v.string('must be text'),
    v.trim(),
    v.nonEmpty(empty),
    v.maxLength(most, `at most ${most} characters`),
  )

/** A whole number between those two. */
export const whole = (least: number, most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.integer('enter a whole number'),
    v.minValue(least, `at least ${least}`),
    v.maxValue(most, `at most ${most}`),
  )

/** More than 0, and at most that. */
export const amount = (most: number) =>
  v.pipe(
    v.number('must be a number'),
    v.gtValue(0, 'must be more than 0'),
    v.maxValue(most, `at most ${most}`),
  )

/** One, or a list of several. `form` is said where none of it can be read. */
export const oneOrMore = <Item extends v.GenericSchema>(item: Item, most: number, form: string) =>
  v.union(
    [item, v.pipe(v.array(item), v.minLength(1, 'is empty'), v.maxLength(most, `at most ${most}`))],
    form,
  )
