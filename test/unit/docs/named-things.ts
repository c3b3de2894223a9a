import { existsSync, readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const sourceFiles = filesIn('electron', 'renderer', 'simulator', 'build')
const testFiles = filesIn('test')

/** The mistake in a reference to code, `path#name`; undefined for none. A path's end is enough: `shell/hardening.ts`. */
export function codeMistake(entry: string): string | undefined {
  const [, end = '', name = ''] = /^`([^`#]+)#([^`]+)`$/.exec(entry) ?? []
  const [path, ...others] = existsSync(end) ? [end] : filesEnding(end, sourceFiles)
  if (path === undefined) return 'is no file'
  if (others.length > 0) return `is in several files: ${[path, ...others].join(', ')}`
  const isNamed = path.endsWith('.ts')
    ? namesIn(path).declared.has(name)
    : readFileSync(path, 'utf8').includes(name)
  return isNamed ? undefined : 'is not in that file'
}

/** The mistake in a reference to a test, `path › title`; undefined for none. A path's end without `.test.ts` is enough. */
export function testMistake(entry: string): string | undefined {
  const [path, ...others] = testFilesOf(entry)
  const title = entry.slice(entry.indexOf('` › ') + 4)
  if (path === undefined) return 'is no file'
  if (others.length > 0) return `is in several files: ${[path, ...others].join(', ')}`
  return namesIn(path).tests.has(title) ? undefined : 'is no test in that file'
}

/** The files that a reference to a test may mean. */
export function testFilesOf(entry: string): readonly string[] {
  const [, end = ''] = /^`([^`]+)` › /.exec(entry) ?? []
  return filesEnding(`${end.replace('.test.ts', '')}.test.ts`, testFiles)
}

/** Paths of all files in these folders, from the project's root. */
function filesIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => `${folder}/${path}`),
  )
}

const filesEnding = (end: string, files: readonly string[]) =>
  files.filter(path => `/${path}`.endsWith(`/${end}`))

/** Wrong entries with their mistakes. */
export const wrong = (entries: readonly string[], mistake: (entry: string) => string | undefined) =>
  entries.flatMap(entry => {
    const found = mistake(entry)
    return found === undefined ? [] : [`${entry} ${found}`]
  })

/** A source's declarations and tests. */
interface Names {
  declared: ReadonlySet<string>
  tests: ReadonlySet<string>
}

/** Cache by path: many entries name the same sources. */
const known = new Map<string, Names>()

function namesIn(path: string): Names {
  const before = known.get(path)
  if (before) return before
  const declared = new Set<string>()
  const tests = new Set<string>()
  known.set(path, { declared, tests })
  each(readFileSync(path, 'utf8'), node => {
    const name = nameOf(node)
    if (name !== undefined) declared.add(name)
    const title = titleOf(node)
    if (title !== undefined) tests.add(title)
  })
  return { declared, tests }
}

function each(text: string, visit: (node: ts.Node) => void): void {
  const into = (node: ts.Node): void => {
    visit(node)
    ts.forEachChild(node, into)
  }
  into(ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest))
}

/** The name of a declared function, constant, type, member or key. */
function nameOf(node: ts.Node): string | undefined {
  if (!isDeclaration(node) || !node.name) return undefined
  if (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name)) return node.name.text
  return ts.isPrivateIdentifier(node.name) ? node.name.text.slice(1) : undefined
}

function isDeclaration(node: ts.Node): node is ts.NamedDeclaration {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node) ||
    ts.isPropertyAssignment(node)
  )
}

/** The title of a test. */
function titleOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || startOf(node) !== 'test') return undefined
  const [first] = node.arguments
  return first && ts.isStringLiteralLike(first) ? first.text : undefined
}

/** What a call begins with: `test` of `test.each([])('name', …)`. */
function startOf(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) return startOf(node.expression)
  return undefined
}
