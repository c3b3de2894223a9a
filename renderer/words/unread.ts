import { count } from '#contract/format/size.ts'

/** What to say of records of a list that were left out; `one`: what a single one is called. */
export function unreadWords(left: number, one: string): string {
  return left === 1
    ? `1 ${one} could not be read and is left out.`
    : `${count(left)} ${one}s could not be read and are left out.`
}
