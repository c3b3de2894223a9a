import { existsSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/** What is wrong with a piece of code that is named as `path#name`; undefined for nothing. */
export function codeMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`#]+)#([^`]+)`$/.exec(entry) ?? []
  if (!existsSync(path)) return 'is no file'
  const there = path.endsWith('.ts')
    ? namesIn(path).declared.has(name)
    : readFileSync(path, 'utf8').includes(name)
  return there ? undefined : 'is not in that file'
}

/** What is wrong with a test that is named as `path › title`, below test/; undefined for nothing. */
export function testMistake(entry: string): string | undefined {
  const [, path = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(entry) ?? []
  if (!existsSync(`test/${path}`)) return 'is no file'
  return namesIn(`test/${path}`).tests.has(name) ? undefined : 'is no test in that file'
}

/** Each entry with a mistake, and that. */
export const wrong = (entries: readonly string[], mistake: (entry: string) => string | undefined) =>
  entries.flatMap(entry => {
    const found = mistake(entry)
    return found === undefined ? [] : [`${entry} ${found}`]
  })

/** What a source declares, and which tests it has. */
interface Names {
  declared: ReadonlySet<string>
  tests: ReadonlySet<string>
}

/** Those of the sources that were read, by path: many entries name the same ones. */
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

/** Where the code begins that follows a comment which begins at `at`. */
export function tokenAfter(text: string, at: number): number {
  const blank = /(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*/y
  blank.lastIndex = at
  blank.exec(text)
  return blank.lastIndex
}

/** What begins at each place of a source: the name that is declared there, or the title of a test. */
export function namesByPlace(text: string): ReadonlyMap<number, { declared?: string; test?: string }> {
  const names = new Map<number, { declared?: string; test?: string }>()
  each(text, (node, source) => {
    const [declared, test] = [nameOf(node), titleOf(node)]
    if (declared === undefined && test === undefined) return
    const at = (ts.isVariableDeclaration(node) ? node.parent.parent : node).getStart(source)
    const before = names.get(at)
    names.set(at, {
      ...before,
      ...(declared !== undefined && before?.declared === undefined && { declared }),
      ...(test !== undefined && before?.test === undefined && { test }),
    })
  })
  return names
}

function each(text: string, visit: (node: ts.Node, source: ts.SourceFile) => void): void {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
  const into = (node: ts.Node): void => {
    visit(node, source)
    ts.forEachChild(node, into)
  }
  into(source)
}

/** Functions, constants, types, members and keys, wherever they are declared. */
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

/** The text that a test is named with. */
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
