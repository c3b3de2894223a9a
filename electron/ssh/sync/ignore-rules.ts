import { createContext, Script } from 'node:vm'
import ignore, { type Ignore } from 'ignore'

/** The ignore files in force in a folder, the innermost last. */
export type RuleFiles = readonly RuleFile[]

interface RuleFile {
  rules: Ignore
  /** The path from the sent folder to where the rules apply, with `/` at its end, or `''`. */
  from: string
  /** Where they apply above the sent folder: the path from there to it. */
  within: string
}

/** Adds the rules of an ignore file, which apply below `from`, a path in the sent folder, or above it by `within`. */
export function withRules(
  files: RuleFiles,
  text: string,
  { from = '', within = '', ignoreCase }: { from?: string; within?: string; ignoreCase: boolean },
): RuleFiles {
  const rules = ignore({ ignorecase: ignoreCase, allowRelativePaths: true }).add(text.replace(/^\ufeff/, ''))
  return [...files, { rules, from, within: within === '' ? '' : `${within}/` }]
}

/**
 * Whether the rules leave out a path, `false` if they include it again, and `undefined` if none names it: the innermost
 * file that names it decides. The path of a folder ends with `/`, and nothing above it may be left out.
 */
export function verdictOf(files: RuleFiles, path: string): boolean | undefined {
  for (const { rules, from, within } of files.toReversed()) {
    const { ignored, unignored } = rules.test(within + path.slice(from.length))
    if (ignored || unignored) return ignored
  }
  return undefined
}

/** The lines of an ignore file that do not leave out a folder which is looked into all the same. */
export function withoutRulesFor(path: string, text: string, ignoreCase: boolean): string {
  const names = (line: string) =>
    ignore({ ignorecase: ignoreCase, allowRelativePaths: true }).add(line).ignores(path)
  return text
    .split('\n')
    .filter(line => !names(line))
    .join('\n')
}

/** Milliseconds for the work of one call. */
const longest = 1000

/**
 * Gives a function that does work which tries ignore rules. They may come from strangers and become regular expressions
 * that take for ever, so the work is ended after a second: then it throws `ERR_SCRIPT_EXECUTION_TIMEOUT`.
 */
export function boundedAttempts(): <Result>(work: () => Result) => Result {
  const script = new Script('work()')
  const place: { work?: () => unknown } = {}
  const context = createContext(place)
  return <Result>(work: () => Result) => {
    let result: { value: Result } | undefined
    place.work = () => {
      result = { value: work() }
    }
    script.runInContext(context, { timeout: longest })
    if (result === undefined) throw new Error('the work did not end')
    return result.value
  }
}
