import type { SpecChange } from '../contract/project/spec.ts'
import { usageFailure } from './failure.ts'

/** The options that change what a project's file says. */
interface SweepWords {
  set?: readonly string[] | undefined
  runs?: string | undefined
  'at-once'?: string | undefined
  keep?: string | undefined
  nodes?: string | undefined
}

/** `--set lr=1e-4,3e-4 --runs 8 --at-once 3 --keep 20m --nodes 4`; undefined without any of them. Throws a CliFailure. */
export function specChangeOf(words: SweepWords): SpecChange | undefined {
  const change: SpecChange = {
    sweep: words.set && gridOf(words.set),
    runs: wholeOf('--runs', words.runs),
    atOnce: wholeOf('--at-once', words['at-once']),
    keep: secondsOf(words.keep),
    nodes: wholeOf('--nodes', words.nodes),
  }
  return Object.values(change).some(value => value !== undefined) ? change : undefined
}

function gridOf(words: readonly string[]): Record<string, string[]> {
  return Object.fromEntries(
    words.map(word => {
      const [, name = '', values = ''] = /^([A-Za-z_]\w*)=(.+)$/s.exec(word) ?? []
      if (name === '') throw usageFailure('--set takes a name and its values, such as lr=1e-4,3e-4.')
      return [name, values.split(',')]
    }),
  )
}

function wholeOf(option: string, word: string | undefined): number | undefined {
  if (word === undefined) return undefined
  if (!/^[1-9]\d{0,3}$/.test(word)) throw usageFailure(`${option} takes a number of at least 1.`)
  return Number(word)
}

function secondsOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined
  const [, hours, minutes] = /^(?=.)(?:(\d{1,3})h)?(?:(\d{1,4})m)?$/.exec(word) ?? []
  if (word === '0') return 0
  if (hours === undefined && minutes === undefined)
    throw usageFailure('--keep takes a time such as 20m or 2h, or 0.')
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60
}
