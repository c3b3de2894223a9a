import { type Glob, globOf } from './glob.ts'

/** One pattern of an ignore file. */
export interface IgnoreRule {
  /** Includes again what earlier rules ignore. */
  negated: boolean
  foldersOnly: boolean
  /** Matches from the ignore file's folder on; otherwise a name at any depth below it. */
  anchored: boolean
  /** One for each name of a path; `deep`, from `**`, stands for any number of names. */
  steps: readonly (Glob | 'deep')[]
}

/** The rules of one folder's ignore files, and how many names lead to that folder. */
export interface RulesOfFolder {
  depth: number
  rules: readonly IgnoreRule[]
}

/** Reads an ignore file as git does. */
export function parseIgnoreFile(text: string): IgnoreRule[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap(line => ruleOf(line.endsWith('\r') ? line.slice(0, -1) : line) ?? [])
}

function ruleOf(line: string): IgnoreRule | undefined {
  if (line.startsWith('#')) return undefined
  const negated = line.startsWith('!')
  let pattern = withoutTrailingSpaces(negated ? line.slice(1) : line)
  const foldersOnly = pattern.endsWith('/')
  if (foldersOnly) pattern = pattern.slice(0, -1)
  const anchored = pattern.includes('/')
  if (pattern.startsWith('/')) pattern = pattern.slice(1)
  if (pattern === '') return undefined
  const names = pattern.split('/')
  const steps: (Glob | 'deep')[] = []
  for (const [at, name] of names.entries()) {
    if (name === '**' && anchored) {
      steps.push('deep')
      // At the end, `**` means the contents of the folder, not the folder itself.
      if (at === names.length - 1) steps.push(() => true)
      continue
    }
    const glob = globOf(name)
    if (glob === undefined || name === '') return undefined
    steps.push(glob)
  }
  return { negated, foldersOnly, anchored, steps }
}

/** Spaces behind a backslash stay. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end--
  return line.slice(0, end)
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0
  while (line[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

/** Whether a path is ignored, if its folder is not: the last matching rule of the deepest folder decides. */
export function isIgnored(
  inForce: readonly RulesOfFolder[],
  names: readonly string[],
  isFolder: boolean,
): boolean {
  for (const { depth, rules } of inForce) {
    const rule = rules.findLast(each => (isFolder || !each.foldersOnly) && applies(each, names, depth))
    if (rule !== undefined) return !rule.negated
  }
  return false
}

function applies({ anchored, steps }: IgnoreRule, names: readonly string[], depth: number): boolean {
  return leads(steps, names, anchored ? depth : names.length - 1)
}

/** Like `matches` in glob.ts, with names for letters: backtracks to the last `deep` only. */
function leads(steps: IgnoreRule['steps'], names: readonly string[], from: number): boolean {
  let step = 0
  let name = from
  let deep = -1
  let deepName = 0
  while (name < names.length) {
    const wanted = steps[step]
    if (wanted === 'deep') {
      deep = step++
      deepName = name
    } else if (wanted?.(names[name] ?? '')) {
      step++
      name++
    } else if (deep >= 0) {
      step = deep + 1
      name = ++deepName
    } else return false
  }
  while (steps[step] === 'deep') step++
  return step === steps.length
}
